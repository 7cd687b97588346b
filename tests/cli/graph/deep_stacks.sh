# Of a stack of a thousand frames that all operators share each row has the innermost hundred.
mkdir dump
{
  printf '{"0": [["Functional.add.0.forward"'
  for i in {1..20}; do printf ', "Functional.add.%d.forward"' "$i"; done
  printf '], ["File /u/a.py, line 1, in f, \\n x"'
  for i in {2..1000}; do printf ', "File /u/a.py, line %d, in f, \\n x"' "$i"; done
  printf ']]}'
} >dump/stack.json
msdump find-op --line a.py:1 --ir dump/stack.json --json -q | jq -c '[.summary, ([.rows[].stack | length] | unique), .rows[0].stack[99].line]'
