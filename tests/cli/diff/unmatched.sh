# What only one side has, with the nearest name on the other.
scaled_net ref
scaled_net bad
rm bad/rank_0/Net/0/0/ReLU*output*
dumped bad Mul.Default_Mull-op7 9 output.0 1 2 3 4
dumped ref TopK.Default_best-op0 9 output.0 1 2
show msdump diff bad ref
msdump diff -q bad ref --jsonl | jq -c 'select(.verdict == "unmatched") | [.a.path, .b.path, .paired_by, .reason]'
show msdump diff -q bad ref --op '*Mul-op0'
