# Names as graph engines and hostile files have them; control characters never reach a terminal.
files=dump/rank_0/Net/0/0
mkdir -p "$files" dump/rank_0/graphs
long=$(printf 'a%.0s' {1..80})
{
  ir_node 0 BiasAdd %para1_x Default/conv/BiasAdd-op5 12
  ir_node 1 ReLU %0 Default/relu/ReLU-op6 13
  ir_node 2 Cast %1 Default/Cast-op7 14
  ir_node 3 Mul %2 "Default/$long/Mul-op12" 15
  ir_node 4 Add %3 Default/Add-op18446744073709551616 16
  ir_node 5 Neg %4 '' 17
  ir_node 6 Exp %5 $'Default/Exp\e[31m-op1' 18
} | grep -v 'scope: ()' | ir_graph >dump/rank_0/graphs/ms_output_trace_code_graph_0.ir
for name in BiasAddRelu.Default_conv_BiasAdd-op5Default_relu_ReLU-op6 Cast.Default_Cast-op7trans_Cast_0 \
  "Mul.Default_${long}_Mul-op1" "Mul.Default_${long}_M" Add.Default_Add-op18446744073709551616 \
  $'Exp.Default_Exp\e[31m-op1' TransData.trans_TransData_1; do
  two_floats "$files/$name.0.0.1700000000000001.output.0.DefaultFormat.npy"
done
show msdump map-ir -d dump -q
show msdump map-ir -d dump --unmatched
show msdump find-op --line net.py:17 -d dump
show msdump find-op --line net.py:18 -d dump
show msdump find-op --line $'n\eet.py:18' -d dump
msdump find-op '*Exp*' -d dump --jsonl -q | jq -c .op_name
msdump find-op '*Exp*' -d dump -0 -q | cat -v
echo
msdump map-ir -d dump --dot -q | grep -c $'\e' || true
