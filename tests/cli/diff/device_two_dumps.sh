# Two dumps with the names of a compiler for the device below one path, against two with MindSpore's: each operator is matched
# with one of its own dump, though both dumps have its name, and `prefill` has a part of a BatchNormGrad that `decode` lacks.
run() { # NAME NUMBER SUM RELU OFFSET: of the operators on the device; lists of numbers, RELU and OFFSET are those of the device
  local -a sum relu grads=(5 6 7 8) offset
  read -ra sum <<<"$3"
  read -ra relu <<<"$4"
  read -ra offset <<<"$5"
  local host=host/$1 device=device/$1 norm=Gradients_Default_n-Norm_Grad_BatchNorm
  dumped "$host" BiasAdd.Default_a_BiasAdd-op1 2 output.0 "${sum[@]}"
  dumped "$host" ReLU.Default_b_ReLU-op1 3 input.0 "${sum[@]}"
  dumped "$host" ReLU.Default_b_ReLU-op1 3 output.0 "${sum[@]/#-*/0}"
  dumped "$host" BatchNormGrad.${norm}_BatchNormGrad-op1 4 output.0 "${grads[@]}"
  dumped "$host" BatchNormGrad.${norm}_BatchNormGrad-op1 4 output.1 "${sum[@]:0:2}"
  dumped "$host" BatchNormGrad.${norm}_BatchNormGrad-op1 4 output.2 "${sum[@]:2}"
  dumped "$device" TransData.trans_TransData_3 1 output.0 "${sum[@]}"
  dumped "$device" "BiasAdd.Default_a_BiasAdd-op${2}8" 2 output.0 "${sum[@]}"
  dumped "$device" "Relu.Default_b_ReLU-op${2}9" 3 input.0 "${sum[@]}"
  dumped "$device" "Relu.Default_b_ReLU-op${2}9" 3 output.0 "${relu[@]}"
  [[ -z $5 ]] || dumped "$device" "BNTrainingUpdateGrad.${norm}_BNTrainingUpdateGrad-op${2}5" 4 output.0 "${sum[@]:0:2}"
  [[ -z $5 ]] || dumped "$device" "BNTrainingUpdateGrad.${norm}_BNTrainingUpdateGrad-op${2}5" 4 output.1 "${offset[@]}"
  dumped "$device" "BNTrainingReduceGrad.${norm}_BNTrainingReduceGrad-op${2}6" 5 output.0 "${grads[@]}"
}
run prefill 1 '9 -1 3 7' '9 0 3 7' '3 7'
run decode 2 '10 -2 4 9' '10 2 4 9' ''
show msdump diff device host
msdump diff -q device host --json >document
jq -c '.rows[] | [.dump, (.a.path, .b.path | if . then split("/")[0] else . end), .verdict]' document |
  sort | uniq -c | sed 's/^ *//'
# One alone has the same partners.
for one in prefill decode; do
  msdump diff -q device/$one host/$one --json | jq -c '.rows[] | [.a.path, .b.path, .verdict]' | sort >alone
  jq -c --arg one $one '.rows[] | select(.dump == $one) | [.a.path, .b.path, .verdict]' document |
    sed "s/$one\///g" | sort | diff alone - && echo equal
done
