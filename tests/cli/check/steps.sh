# Several steps: a trend, weights that stay, a step that ended early.
weight() { echo "rank_0/Net/0/$1/Parameter.fc_weight.0.0.1700000000000009.output.0.DefaultFormat.npy"; }
output() { echo "rank_0/Net/0/$1/Mul.Default_Mul-op$2.0.0.170000000000000$2.output.0.DefaultFormat.npy"; }
for step in 0 1 2; do
  mkdir -p "rank_0/Net/0/$step"
  two_floats "$(weight $step)" '\0\0\x80\x3f\0\0\0\x40'
  for op in 1 2 3 4; do
    ((step < 2 || op < 3)) && two_floats "$(output $step $op)" "\\0\\0\\x80\\x3f\\0\\0\\x0$step\\x40"
  done
done
show msdump check
show msdump check --all -q --step 0-1
show msdump check --trend
msdump check --trend --jsonl -q --op '*op1' | jq -c '{step, op_name, min, max, mean, l2norm, count, finite}'
show msdump check --trend --step 1
