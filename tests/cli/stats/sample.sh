# The table for people, the file's own bytes, rows for machines; device formats are brought to the host's first.
cd "$TESTDATA/sample" || exit
show msdump stats --op-type MatMul --columns max,min,l2norm
show msdump stats --op '*conv1*' --csv --columns max,avg,md5
show msdump stats --op-type Gather --io input --slot 0 --jsonl --columns max,nan\ count,hash
show msdump stats --op-type Gather --io input --slot 0 --exact --jsonl --columns avg,l2norm
msdump stats --json --op-type ReduceMean -q | jq -c '.schema, .command, .summary, .failures, (.rows | length)'
