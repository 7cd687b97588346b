# Nothing of a file drives the terminal, long lines are cut, and a thousand mistakes are a hundred rows.
printf '{"task": "te\\u001b[31mnsor", "dump_path": "/d", "\x1b[2Jkey": 1, "tensor": {}}\n' >escape.json
show msdump check-config escape.json
printf '{"dump_path": "/d", "task": "tensor", "tensor": {}, %0400d"level": "L9", "x": "%0400d"}\n' 0 0 | sed 's/ 0*"level"/ "level"/' >long.json
show msdump check-config long.json
{
  printf '{"dump_path": "/d", "step": [0'
  printf ', -1%.0s' {1..1000}
  echo ']}'
} >many.json
msdump check-config many.json --jsonl -q | wc -l
msdump check-config many.json --jsonl -q | tail -n 1
printf '%0.s[' {1..5000} >deep.json
show msdump check-config deep.json
