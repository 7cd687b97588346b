# An input that is not finite is left out of the table only where that has the output that it was.
mkdir -p rank_0/graphs rank_0/Net/0/0
{
  ir_node 1 Mul %para1_x Default/Mul-op1 10
  ir_node 2 Add '%1, %para2_w' Default/Add-op2 11
} | ir_graph >rank_0/graphs/ms_output_trace_code_graph_0.ir
for file in Mul-op1.0.0.1700000000000001.input.0 Mul-op1.0.0.1700000000000001.output.0 \
  Add-op2.0.0.1700000000000002.input.0 Add-op2.0.0.1700000000000002.input.1 Add-op2.0.0.1700000000000002.output.0; do
  two_floats "rank_0/Net/0/0/${file%%-*}.Default_$file.DefaultFormat.npy" '\0\0\xc0\x7f\0\0\0\x40'
done
show msdump check --no-recompute
