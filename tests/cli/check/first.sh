# The first operator that makes NaN, along the IR: forward, a network input, and nothing.
net() {
  mkdir -p rank_0/graphs rank_0/Net/0/0
  {
    ir_node 1 Mul %para1_x Default/Mul-op1 10
    ir_node 2 Log %1 Default/Log-op2 11
    ir_node 3 Neg %2 Default/Neg-op3 12
  } | ir_graph >rank_0/graphs/ms_output_trace_code_graph_0.ir
}
file() { echo "rank_0/Net/0/0/$1.Default_$1-op$2.0.0.170000000000000$3.$4.0.DefaultFormat.npy"; }
one='\0\0\x80\x3f\0\0\0\x40' nan='\0\0\xc0\x7f\0\0\0\x40'
net
for op in 'Mul 1 3' 'Log 2 2' 'Neg 3 1'; do
  # shellcheck disable=SC2086  # words on purpose
  { two_floats "$(file $op input)" "$one" && two_floats "$(file $op output)" "$one"; }
done
show msdump check --no-recompute --first
show msdump check --no-recompute
two_floats "$(file Log 2 2 output)" "$nan"
two_floats "$(file Neg 3 1 input)" "$nan"
two_floats "$(file Neg 3 1 output)" "$nan"
show msdump check --no-recompute --first
show msdump check --no-recompute
show msdump check --no-recompute --all -q
msdump check --no-recompute --first --json -q | jq -c '.first | {op_name, op_type, order, kind, io, slot, inputs_finite, source, path}'
# A network input that is NaN when it comes.
two_floats "$(file Mul 1 3 input)" "$nan"
two_floats "$(file Mul 1 3 output)" "$nan"
show msdump check --no-recompute --first
mkdir noir
show msdump check --no-recompute --first --ir noir
