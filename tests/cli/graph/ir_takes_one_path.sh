# `--ir` takes one path each time: what follows is the dump, or what is asked for.
scaled_net good
scaled_net bad 3
show msdump check --ir good/rank_0/graphs good
msdump diff --ir good/rank_0/graphs bad good --json -q | jq -c '[.dumps, .summary.differ]'
msdump find-op -d bad --ir bad/rank_0/graphs --ir good/rank_0/graphs Default/Add-op0 --jsonl -q | jq -c .ir_file
show msdump map-ir --ir good/rank_0/graphs bad
