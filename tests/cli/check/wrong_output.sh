# An operator that is wrong by its own inputs, and what it did instead: the BiasAdd of the sample hands its input on. Alone, and
# beside a run that is right.
cp -r "$TESTDATA/sample" wrong && ln -s "$TESTDATA/sample" right
file=$(ls wrong/rank_0/Net/0/0/BiasAdd.*)
# Its tensors end the file: the input, the bias of 32 bytes, the output.
{ head -c -1152 "$file" && tail -c 2336 "$file" | head -c 1152; } >handed_on && mv handed_on "$file"
show msdump check wrong --rule none --rule wrong_output
msdump check wrong --json -q --rule none --rule wrong_output | jq -c '.recompute[]'
msdump check right --json -q --rule none --rule wrong_output | jq -c .recompute
show msdump diff wrong right
show msdump diff -q wrong right --explain BiasAdd-op13
msdump diff -q wrong right --explain BiasAdd-op13 --json | jq -c '.first_divergence[].recompute, .explain[].outputs[].recompute'
# Zeros in, zeros out: right by itself.
cp -r "$TESTDATA/sample" fed
file=$(ls fed/rank_0/Net/0/0/BiasAdd.*)
{ head -c -2336 "$file" && head -c 2336 /dev/zero; } >other && mv other "$file"
show msdump diff -q fed right --explain BiasAdd-op13
# An operator that did not run: its buffer has the output of an earlier one.
numbers=(1 2.5 -3 4.125 5 -6.5 7 8.25 9 10 11.5 12)
times() { awk -v factor="$1" 'BEGIN { for (i = 1; i < ARGC; i++) printf "%.9g ", ARGV[i] * factor }' "${@:2}"; }
read -ra product <<<"$(times 3 "${numbers[@]}")"
dumped stale Mul.Default_Mul-op0 1 input.0 "${numbers[@]}"
dumped stale Mul.Default_Mul-op0 1 output.0 "${product[@]}"
dumped stale Mul.Default_Mul-op1 2 input.0 3 1 4 1 5 9 2 6 5 3 5 8
dumped stale Mul.Default_Mul-op1 2 output.0 "${product[@]}"
mkdir -p stale/rank_0/graphs
{
  ir_node 0 Mul '%para1_x, F32(3)' Default/Mul-op0 11
  ir_node 1 Mul '%para2_z, F32(5)' Default/Mul-op1 12
} | ir_graph 0 >stale/rank_0/graphs/ms_output_trace_code_graph_0.ir
msdump check stale --json -q --rule none --rule wrong_output | jq -c '.recompute[] | .op_name, .reason, .instead[]'
