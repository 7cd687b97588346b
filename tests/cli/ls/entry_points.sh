# Any level of the tree will do: what a folder above says is still known below.
tree=$TESTDATA/sample
for place in "$tree" "$tree/rank_0" "$tree/rank_0/Net/0" "$tree/rank_0/Net/0/0" "$tree"/rank_0/Net/0/0/MatMul.*; do
  msdump ls --jsonl -q "$place" | jq -c '[.rank, .graph, .step]' | sort | uniq -c
done
cd "$tree/rank_0/Net/0/0" || exit
msdump ls --jsonl -q | jq -c '[.rank, .graph, .step]' | sort | uniq -c
printf '%s\n' MatMul.* DynamicRNN.* | msdump ls - --jsonl -q | jq -r .op_type
printf '%s\0' MatMul.* | MSDUMP_DUMP=- msdump ls --jsonl -q | jq -r .op_type
