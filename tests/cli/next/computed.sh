# An operator that is wrong by its own inputs needs no other dump and no reference.
numbers=(1 2.5 -3 4.125 5 -6.5 7 8.25 9 10 11.5 12)
times() { awk -v factor="$1" 'BEGIN { for (i = 1; i < ARGC; i++) printf "%.9g ", ARGV[i] * factor }' "${@:2}"; }
read -ra product <<<"$(times 5 "${numbers[@]}")"
dumped wrong Mul.Default_Mul-op0 1 input.0 "${numbers[@]}"
dumped wrong Mul.Default_Mul-op0 1 output.0 "${product[@]}"
mkdir -p wrong/rank_0/graphs
ir_node 0 Mul '%para1_x, F32(3)' Default/Mul-op0 11 | ir_graph 0 >wrong/rank_0/graphs/ms_output_trace_code_graph_0.ir
show msdump next -d wrong
# Where the inputs were not dumped, they are asked for.
declare -A factor=([bad]=5 [good]=4)
for dump in bad good; do
  read -ra first <<<"$(times 3 "${numbers[@]}")"
  dumped $dump Mul.Default_Mul-op0 1 output.0 "${first[@]}"
  read -ra second <<<"$(times "${factor[$dump]}" "${numbers[@]}")"
  dumped $dump Mul.Default_Mul-op1 2 output.0 "${second[@]}"
  mkdir -p $dump/rank_0/graphs
  {
    ir_node 0 Mul '%para1_x, F32(3)' Default/Mul-op0 11
    ir_node 1 Mul '%0, %para2_z' Default/Mul-op1 12
  } | ir_graph 0 >$dump/rank_0/graphs/ms_output_trace_code_graph_0.ir
done
show msdump next -d bad --ref good 2>&1 | sed '/^{/,$d'
