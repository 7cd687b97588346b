# The inventory: a table, rows for machines, paths for xargs.
cd "$TESTDATA/sample" || exit
show msdump ls
show msdump ls --no-shape --op-type MatMul
show msdump ls --csv --op-type MatMul
show msdump ls --jsonl --op-type MatMul --io output
msdump ls -0 --op-type MatMul | tr '\0' '\n'
msdump ls --json -q | jq -c '.summary, (.rows | length), (.rows[0] | keys_unsorted)'
