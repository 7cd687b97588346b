# Weights that were loaded crosswise, and operands in another order, are not two wrong values.
gated_net() { # DIR GATE UP [reordered]: 2 gate - 2 up; reordered: 2 up - 2 gate
  local dir=$1 gate up gated upped left right i difference=()
  read -ra gate <<<"$2"
  read -ra up <<<"$3"
  for i in 0 1 2; do
    gated[i]=$((2 * gate[i]))
    upped[i]=$((2 * up[i]))
  done
  left=("${gated[@]}") right=("${upped[@]}")
  [[ ${4-} != reordered ]] || left=("${upped[@]}") right=("${gated[@]}")
  for i in 0 1 2; do difference+=("$((left[i] - right[i]))"); done
  dumped "$dir" Mul.Default_Mul-op0 1 input.0 2 2 2
  dumped "$dir" Mul.Default_Mul-op0 1 input.1 "${gate[@]}"
  dumped "$dir" Mul.Default_Mul-op0 1 output.0 "${gated[@]}"
  dumped "$dir" Mul.Default_Mul-op1 2 input.0 2 2 2
  dumped "$dir" Mul.Default_Mul-op1 2 input.1 "${up[@]}"
  dumped "$dir" Mul.Default_Mul-op1 2 output.0 "${upped[@]}"
  dumped "$dir" Sub.Default_Sub-op0 3 input.0 "${left[@]}"
  dumped "$dir" Sub.Default_Sub-op0 3 input.1 "${right[@]}"
  dumped "$dir" Sub.Default_Sub-op0 3 output.0 "${difference[@]}"
  mkdir -p "$dir/rank_0/graphs" "$dir/rank_0/.dump_metadata"
  echo '{"ms_version":"2.0.0"}' >"$dir/rank_0/.dump_metadata/config.json"
  {
    ir_node 0 Mul '%para1_x, %para2_gate.weight' Default/Mul-op0 11
    ir_node 1 Mul '%para1_x, %para3_up.weight' Default/Mul-op1 12
    ir_node 2 Sub '%0, %1' Default/Sub-op0 13
  } | ir_graph 0 | sed 's/^# Total params: 1/# Total params: 3/; s/^%para1_x.*/&\n%para2_gate.weight: <Ref[Tensor[Float32]], (3), ref_key=gate.weight>  :  has_default\n%para3_up.weight: <Ref[Tensor[Float32]], (3), ref_key=up.weight>  :  has_default/' \
    >"$dir/rank_0/graphs/ms_output_trace_code_graph_0.ir"
}
gated_net ref '3 2 7' '4 9 1'
gated_net crosswise '4 9 1' '3 2 7'
gated_net reordered '3 2 7' '4 9 1' reordered
msdump diff -q crosswise ref --json | jq -c '.first_divergence[] | [.op_name, .reason]'
msdump diff -q reordered ref --json | jq -c '.first_divergence[] | [.op_name, .reason]'
