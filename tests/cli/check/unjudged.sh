# What ranks exchange and nobody can judge is said, and is no finding: parts along another dimension than the first, and
# operators that are not read.
for rank in 0 1; do
  dir=rank_$rank/Net/0/0
  mkdir -p "$dir" "rank_$rank/graphs"
  array() { npy "$dir/$1.0.0.170000000000000$2.$3.DefaultFormat.Float32.npy" '<f4' '(2, 2)' "$(f32 "${@:4}")"; }
  array AlltoAll.Default_AlltoAll-op0 1 input.0 1 2 3 "$((4 + rank))"
  array AlltoAll.Default_AlltoAll-op0 1 output.0 9 8 7 6
  array NeighborExchange.Default_NeighborExchange-op1 2 input.0 1 2 3 "$((4 + rank))"
  array NeighborExchange.Default_NeighborExchange-op1 2 output.0 9 8 7 6
  array AllReduce.Default_AllReduce-op2 3 input.0 1 2 3 "$((4 + rank))"
  array AllReduce.Default_AllReduce-op2 3 output.0 2 4 6 9
  array CollectiveScatter.Default_CollectiveScatter-op3 4 input.0 1 2 3 "$((4 + rank))"
  array CollectiveScatter.Default_CollectiveScatter-op3 4 output.0 9 8 7 6
  {
    ir_node 0 AlltoAll "%para1_x" Default/AlltoAll-op0 11
    ir_node 1 NeighborExchange '%0' Default/NeighborExchange-op1 12
    ir_node 2 AllReduce '%1' Default/AllReduce-op2 13
    ir_node 3 CollectiveScatter '%2' Default/CollectiveScatter-op3 14
  } | sed 's/AlltoAll(%para1_x)/& primitive_attrs: {split_count: I64(2), split_dim: I64(1), concat_dim: I64(0), group: "world", rank_list: (0, 1)}/
           s/AllReduce(%1)/& primitive_attrs: {group: "world", op: "sum", rank_list: (0, 1)}/' |
    ir_graph >"rank_$rank/graphs/ms_output_trace_code_graph_0.ir"
done
show msdump check
msdump check --json 2>/dev/null | jq -c '.summary | [.collectives, .collectives_judged, .collective_mismatch]'
# The rule does not ask for them; one rank has no exchanges.
show msdump check --rule collective_mismatch:off
show msdump check --rank 0
