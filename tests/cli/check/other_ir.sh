# The IR of another network, which shares an operator with this one, is not used.
mkdir -p rank_0/graphs rank_0/Net/0/0
{
  ir_node 1 Mul %para1_x Default/Mul-op1 10
  ir_node 2 Tanh %1 Default/Tanh-op2 11
} | ir_graph >rank_0/graphs/ms_output_trace_code_graph_0.ir
for op in Mul-op1 Log-op2 Neg-op3; do
  for slot in input output; do
    two_floats "rank_0/Net/0/0/${op%-*}.Default_$op.0.0.170000000000000${op: -1}.$slot.0.DefaultFormat.npy" \
      '\0\0\x80\x3f\0\0\0\x40'
  done
done
show msdump check --no-recompute
