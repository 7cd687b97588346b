# Two dumps with the names of a compiler for the device below one path, against two with MindSpore's: each is matched with its
# namesake, though operators of both have the same names, and in `decode` the values of `prefill` occur, too.
run() { # NAME X BIAS SCALED RELU: lists of four numbers; RELU is that of the device
  local -a x bias sum relu
  read -ra x <<<"$2"
  read -ra bias <<<"$3"
  read -ra sum <<<"$4"
  read -ra relu <<<"$5"
  local host=host/$1 device=device/$1
  dumped "$host" MatMul.Default_a_MatMul-op1 1 input.0 "${x[@]}"
  dumped "$host" MatMul.Default_a_MatMul-op1 1 input.1 2 0 0 2
  dumped "$host" MatMul.Default_a_MatMul-op1 1 output.0 "${x[@]}"
  dumped "$host" BiasAdd.Default_a_BiasAdd-op1 2 input.0 "${x[@]}"
  dumped "$host" BiasAdd.Default_a_BiasAdd-op1 2 input.1 "${bias[@]}"
  dumped "$host" BiasAdd.Default_a_BiasAdd-op1 2 output.0 "${sum[@]}"
  dumped "$host" ReLU.Default_b_ReLU-op1 3 input.0 "${sum[@]}"
  dumped "$host" ReLU.Default_b_ReLU-op1 3 output.0 "${sum[@]/#-*/0}"
  dumped "$device" TransData.trans_TransData_3 1 input.0 "${x[@]}"
  dumped "$device" TransData.trans_TransData_3 1 output.0 "${x[@]}"
  dumped "$device" MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.0 "${x[@]}"
  dumped "$device" MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.1 2 0 0 2
  dumped "$device" MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 input.2 "${bias[@]}"
  dumped "$device" MatMulV2.Default_a_MatMul-op7Default_a_BiasAdd-op8 2 output.0 "${sum[@]}"
  dumped "$device" Relu.Default_b_ReLU-op9 3 input.0 "${sum[@]}"
  dumped "$device" Relu.Default_b_ReLU-op9 3 output.0 "${relu[@]}"
}
run prefill '8 -3 2 5' '1 2 1 2' '9 -1 3 7' '9 0 3 7'
run decode '9 0 3 7' '1 2 1 2' '10 -2 4 9' '10 2 4 9'
show msdump diff device host
msdump diff -q device host --json >document
jq -c '.summary | .compared, .same, .differ, .unmatched' document
jq -c '.rows[] | [.dump, (.a.path, .b.path | if . then split("/")[0] else . end), .verdict, .paired_by]' document |
  sort | uniq -c | sed 's/^ *//'
jq -c '.first_divergence[] | [.dump, .op_name]' document
# One alone has the same partners.
msdump diff -q device/decode host/decode --json | jq -c '.rows[] | [.a.path, .b.path, .verdict]' | sort >alone
jq -c '.rows[] | select(.dump == "decode") | [.a.path, .b.path, .verdict]' document | sed 's/decode\///g' | sort | diff - alone && echo equal
