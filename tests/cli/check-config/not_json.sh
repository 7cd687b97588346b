# Text that is not JSON leads to findings and exit code 1; what can be read after a slip is judged.
cat >slips.json <<'JSON'
{ // which ones
  'task': "tensor",  # all
  "dump_path": "/d",
  "async_dump": True,
  "tensor": {"data_mode": ["all"],},
}
JSON
show msdump check-config slips.json
printf '\xef\xbb\xbf{"task": "tensor", "dump_path": "/d"}' >bom.json
show msdump check-config bom.json
: >empty.json
echo '{"common_dump_settings": {"dump_mode": 0' >cut.json
echo '{"task" "tensor"}' >colon.json
echo '{"dump_path": “/d”}' >quotes.json
printf '{"task": "a\0"}' >zero.json
head -c 300 "$TESTDATA"/sample/rank_0/Net/0/0/MatMul.* >binary.json
show msdump check-config empty.json cut.json colon.json quotes.json zero.json
show msdump check-config binary.json --csv -q
# What it is, not what the reader made of it.
printf '{\n  "net_name": "Net,\n  "path": "/d"\n}' >quote.json
printf '{"net_name": "N\tet"}' >tab.json
printf '{"net_name": "Net"}xyz' >behind.json
printf '{"dump_mode": 0x1}' >hex.json
printf '\xff\xfe{\0"\0a\0"\0:\0001\0}\0' >utf16.json
printf '{"net_name":\xc2\xa0"Net"}' >space.json
printf '{"path": "C:\\dump"}' >backslash.json
show msdump check-config quote.json tab.json behind.json hex.json utf16.json space.json backslash.json -q
# Columns are characters, as editors count them, and the mark is under the place.
printf '{"task": "tensor", "dump_path": "/数据/é", "levl": 1}\n' >wide.json
show msdump check-config wide.json -q
printf '{"dump_path": "%s", "levl": 1, "task": "%s"}\n' 数据数据数据数据数据数据数据数据数据数据数据 数据数据数据数据数据数据数据数据数据数据数据 >long.json
show msdump check-config long.json -q
printf '\xef\xbb\xbf{"task": "tensor", "dump_path": "/d", "levl": 1}' >marked.json
show msdump check-config marked.json -q
echo '[]' >list.json
echo '{"name": "Net"}' >other.json
show msdump check-config list.json other.json
