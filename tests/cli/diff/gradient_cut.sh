# A gradient that is cut: gradient operators, backward calls or the gradients that these return exist on one side alone.
numbers() { awk -v factor="$1" 'BEGIN { print 0.5 * factor, -factor, 2 * factor, 1.5 * factor }'; }

# y = sin(x) * 3 + x, and the gradient of it, through the product and past it. cut: only past it.
gradient_net() { # DIR [cut]
  local dir=$1 factor=2.2 product cosine gradient sum opposite
  [[ $# -eq 1 ]] || factor=1
  read -ra gradient <<<"$(numbers 1)"
  read -ra product <<<"$(numbers 3)"
  read -ra cosine <<<"$(numbers 1.2)"
  read -ra sum <<<"$(numbers "$factor")"
  read -ra opposite <<<"$(numbers "-$factor")"
  dumped "$dir" Sin.Default_Sin-op0 1 input.0 1 -2 3 4
  dumped "$dir" Sin.Default_Sin-op0 1 output.0 0.84 -0.91 0.14 -0.76
  dumped "$dir" Sub.Gradients_Default_Grad_Loss_Sub-op0 3 input.0 0.84 -0.91 0.14 -0.76
  dumped "$dir" Sub.Gradients_Default_Grad_Loss_Sub-op0 3 output.0 "${gradient[@]}"
  if [[ $# -eq 1 ]]; then
    dumped "$dir" Mul.Gradients_Default_Grad_Mul_Mul-op1 4 input.0 "${gradient[@]}"
    dumped "$dir" Mul.Gradients_Default_Grad_Mul_Mul-op1 4 output.0 "${product[@]}"
    dumped "$dir" Cos.Gradients_Default_Grad_Sin_Cos-op0 5 input.0 "${product[@]}"
    dumped "$dir" Cos.Gradients_Default_Grad_Sin_Cos-op0 5 output.0 "${cosine[@]}"
    dumped "$dir" AddN.Gradients_Default_AddN-op0 6 input.0 "${gradient[@]}"
    dumped "$dir" AddN.Gradients_Default_AddN-op0 6 input.1 "${cosine[@]}"
    dumped "$dir" AddN.Gradients_Default_AddN-op0 6 output.0 "${sum[@]}"
  fi
  dumped "$dir" Neg.Default_Neg-op0 7 input.0 "${sum[@]}"
  dumped "$dir" Neg.Default_Neg-op0 7 output.0 "${opposite[@]}"
  mkdir -p "$dir/rank_0/graphs" "$dir/rank_0/.dump_metadata"
  echo '{"ms_version":"2.0.0"}' >"$dir/rank_0/.dump_metadata/config.json"
  {
    ir_node 0 Sin %para1_x Default/Sin-op0 11
    ir_node 2 Sub '%0' Gradients/Default/Grad_Loss/Sub-op0 13
    if [[ $# -eq 1 ]]; then
      ir_node 3 Mul '%2' Gradients/Default/Grad_Mul/Mul-op1 12
      ir_node 4 Cos '%3' Gradients/Default/Grad_Sin/Cos-op0 11
      ir_node 5 AddN '%2, %4' Gradients/Default/AddN-op0 11
    fi
    ir_node 6 Neg "%$([[ $# -eq 1 ]] && echo 5 || echo 2)" Default/Neg-op0 14
  } | ir_graph 0 >"$dir/rank_0/graphs/ms_output_trace_code_graph_0.ir"
}
gradient_net ref
gradient_net bad cut
show msdump diff -q bad ref
show msdump diff -q ref bad
msdump diff -q --json bad ref | jq -c '.first_divergence[] | [.op_name, .gradient_cut]'

# Of msprobe, the second of two modules: cut before it (calls) or in it (gradients that it returns).
calls() { # DIR [calls|gradients]
  local dir=$1/step0/rank0 name before data='' stack=''
  mkdir -p "$dir"
  tensor() { printf '{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":%s,"Min":1.0,"Mean":%s,"Norm":%s}' "$1" "$1" "$1"; }
  entry() { data+="${data:+,}\"$1\":{\"$2\":[$3],\"input_kwargs\":{},\"output\":[$4]}"; }
  for name in 0 1; do
    entry "Module.layer$name.GRUCell.forward.0" input_args "$(tensor "2.$name"),$(tensor "3.$name")" "$(tensor "4.$name")"
    stack+="${stack:+,}\"$name\":[[\"Module.layer$name.GRUCell.forward.0\"],[\"File /home/user/net.py, line 3$name, in forward, \\n x = self.layer$name(x)\"]]"
  done
  if [[ ${2-} != calls ]]; then
    entry Module.layer1.GRUCell.backward.0 input "$(tensor 5.1)" \
      "$(tensor 6.1)$([[ ${2-} == gradients ]] || echo ",$(tensor 7.1)")"
    before=$([[ ${2-} == gradients ]] && echo 80 || echo 8)
    entry Module.layer0.GRUCell.backward.0 input "$(tensor "$before.1")" "$(tensor "$before.2")"
  fi
  printf '{"task":"statistics","level":"L0","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$dir/dump.json"
  printf '{%s}' "$stack" >"$dir/stack.json"
  echo '{}' >"$dir/construct.json"
}
calls called
calls no_calls calls
calls no_gradients gradients
show msdump diff -q no_calls called
show msdump diff -q no_gradients called
