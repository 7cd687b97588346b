# Text that is no JSON is findings and exit code 1; what can be read behind a slip of the hand is judged.
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
echo '[]' >list.json
echo '{"name": "Net"}' >other.json
show msdump check-config list.json other.json
