# A dump with the names of a compiler for the device against one with MindSpore's: what each tensor without a partner is.
x=(1 -2 3 4 -5 6) w=(2 1 -1 3 5 7) product=(8 -3 2 5 -7 9) sum=(9 -1 5 4 -6 8) relu=(9 0 5 4 0 8)
dumped host MatMul.Default_a_MatMul-op1 1 input.0 "${x[@]}"
dumped host MatMul.Default_a_MatMul-op1 1 input.1 "${w[@]}"
dumped host MatMul.Default_a_MatMul-op1 1 output.0 "${product[@]}"
dumped host BiasAdd.Default_a_BiasAdd-op1 2 input.0 "${product[@]}"
dumped host BiasAdd.Default_a_BiasAdd-op1 2 input.1 1 2 3
dumped host BiasAdd.Default_a_BiasAdd-op1 2 output.0 "${sum[@]}"
dumped host Reshape.Default_b_Reshape-op1 3 input.0 "${sum[@]}"
dumped host Reshape.Default_b_Reshape-op1 3 output.0 "${sum[@]}"
dumped host ReLU.Default_b_ReLU-op1 4 input.0 "${sum[@]}"
dumped host ReLU.Default_b_ReLU-op1 4 output.0 "${relu[@]}"
dumped host Softmax.Default_b_Softmax-op1 5 input.0 "${relu[@]}"
dumped host Softmax.Default_b_Softmax-op1 5 input.1 1
dumped host Softmax.Default_b_Softmax-op1 5 output.0 "${w[@]}"
dumped device TransData.trans_TransData_3 1 input.0 "${x[@]}"
dumped device TransData.trans_TransData_3 1 output.0 "${x[@]}"
dumped device MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.0 "${x[@]}"
dumped device MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.1 "${w[@]}"
dumped device MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.2 1 2 3
dumped device MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 output.0 "${sum[@]}"
dumped device Relu.Default_b_ReLU-op9 3 input.0 "${sum[@]}"
dumped device Relu.Default_b_ReLU-op9 3 output.0 "${relu[@]}"
dumped device SoftmaxV2.Default_b_Softmax-op10 4 input.0 "${relu[@]}"
dumped device SoftmaxV2.Default_b_Softmax-op10 4 output.0 "${w[@]}"
show msdump diff device host
msdump diff -q device host --json >document
jq -c '.summary' document
jq -c '.rows[] | select(.verdict == "skipped" or .verdict == "unmatched") | [.a.op_type, .a.io, .a.slot, .b.op_type, .b.io, .b.slot, .verdict, .reason]' document
jq -r '.rows[].paired_by' document | sort | uniq -c | sed 's/^ *//'
echo "exchanged:"
msdump diff -q host device --jsonl | jq -c 'select(.verdict == "skipped") | .reason' | sort | uniq -c | sed 's/^ *//'
