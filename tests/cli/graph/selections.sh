# Which operators and which of their tensors: an IR without a rank is every rank's, counts are of what is selected.
for rank in 0 1; do
  mkdir -p "dump/rank_$rank/Net/0/0"
  for io in input output; do
    two_floats "dump/rank_$rank/Net/0/0/Add.Default_Add-op1.0.0.170000000000000$rank.$io.0.DefaultFormat.npy"
  done
  two_floats "dump/rank_$rank/Net/0/0/Sub.Default_Sub-op9.0.0.170000000000000$rank.output.0.DefaultFormat.npy"
done
{
  ir_node 0 Add %para1_x Default/Add-op1 12
  ir_node 1 Mul %0 Default/Mul-op2 13
} | ir_graph >run.ir
for selection in '' '--rank 1' '--rank 2' '--step 5' '--io input' '--slot 9'; do
  # shellcheck disable=SC2086  # a list on purpose
  printf '%-12s %s\n' "$selection" "$(msdump find-op --line net.py:12 -d dump --ir run.ir $selection --json -q | jq -c .summary)"
done
show msdump find-op --line net.py:12 -d dump --ir run.ir --slot 9
show msdump find-op --line net.py:12 -d dump --ir run.ir --graph 7
show msdump find-op --line net.py:12 -d dump --ir run.ir --op 'Default/Mul*'
show msdump find-op --line net.py:12 --ir run.ir -0
show msdump map-ir -d dump --ir run.ir --rank 1 --op '*Add*'
show msdump map-ir -d dump --ir run.ir --op '*Sub*' --unmatched
msdump map-ir -d dump --ir run.ir --io input --json -q | jq -c '.summary, .unmatched_files'
msdump map-ir -d dump --ir run.ir --rank 0 --json -q | jq -c '.summary, (.unmatched_files[] | [.rank, .op_name, .dtype, .shape, .reason])'
