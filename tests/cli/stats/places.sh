# Where files go: a mirrored tree, beside the tensors only where none is, or by force; and what --verify says of them.
cp -r "$TESTDATA/sample" dump
chmod -R u+w dump
show msdump stats -d dump -out out --op '*conv1*'
files out
show msdump stats -d dump --verify
show msdump stats -d dump --in-place -q
files dump | grep csv
show msdump stats -d dump --in-place -q
show msdump stats -d dump --in-place --force -q
show msdump stats -d dump --verify -q
sed -i '3s/,215,/,216,/; /ReduceMean/d' dump/rank_0/Net/0/0/statistic.csv
show msdump stats -d dump --verify -q
msdump stats -d dump --verify -q --jsonl | jq -c '[.op_type, .slot, .column, .stored, .computed]'
