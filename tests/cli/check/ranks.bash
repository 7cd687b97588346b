# Four ranks with the same weight and a batch each, whose gradients are summed, in two steps.
# shellcheck shell=bash
# rank_dump RANK STEP WEIGHT GRADIENT SUM
rank_dump() {
  local dir=rank_$1 time=$((10 + $2 * 10))
  dumped made Mul.Default_Mul-op0 $((time + 1)) input.0 "$1" 2 -3 4.5
  dumped made Mul.Default_Mul-op0 $((time + 1)) input.1 "$3" -0.75 1.5 2
  dumped made Mul.Default_Mul-op0 $((time + 1)) output.0 "$4" 1 -0.5 0.25
  dumped made AllReduce.Default_AllReduce-op1 $((time + 2)) input.0 "$4" 1 -0.5 0.25
  dumped made AllReduce.Default_AllReduce-op1 $((time + 2)) output.0 "$5" 4 -2 1
  mkdir -p "$dir/Net/0" "$dir/graphs"
  mv made/rank_0/Net/0/0 "$dir/Net/0/$2"
  {
    ir_node 0 Mul "%para1_x, %para2_w" Default/Mul-op0 11
    ir_node 1 AllReduce '%0' Default/AllReduce-op1 12
  } | sed 's/AllReduce(%0)/& primitive_attrs: {group: "nccl_world_group", op: "sum", rank_list: (0, 1, 2, 3)}/' |
    ir_graph >"$dir/graphs/ms_output_trace_code_graph_0.ir"
}
ranks() { local rank; for rank in 0 1 2 3; do for step in 0 1; do rank_dump "$rank" "$step" 0.5 "$((rank + step))" "$((6 + 4 * step))"; done; done; }
