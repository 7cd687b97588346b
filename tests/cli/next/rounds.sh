# Statistics of a chain of calls, of which the fifth goes wrong; the next dump has the tensors of the calls before it, and pins
# the one whose inputs agree. A case keeps the rounds.
masked() { show "$@" | sed "s|$PWD|PWD|g"; }
statistic() { # VALUE
  printf '{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":%s,"Min":-%s,"Mean":0.5,"Norm":%s}' "$1" "$1" "$1"
}
tensor() { # FILE
  printf '{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"data_name":"%s"}' "$1"
}
finish() { # FOLDER TASK
  printf '{"task":"%s","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$2" "$data" >"$1/dump.json"
  printf '{%s}' "$stack" >"$1/stack.json"
}
add() { # NAME LINE INPUT OUTPUT
  data+="${data:+,}\"$1\":{\"input_args\":[$3],\"input_kwargs\":{},\"output\":[$4]}"
  stack+="${stack:+,}\"$2\":[[\"$1\"],[\"File net.py, line $2, in forward, \\n y = f(x)\"]]"
}
calls=(linear relu tanh gelu sigmoid silu celu selu elu mish)
statistics() { # DIR STEPS VALUE-FROM-THE-FIFTH-CALL-ON
  local step i in out data stack
  for ((step = 0; step < $2; step++)); do
    mkdir -p "$1/step$step/rank0"
    data='' stack=''
    for i in "${!calls[@]}"; do
      in=$((i + 2)).0$step out=$((i + 3)).0$step
      ((i < 4)) || out=$((i + 3)).$3
      ((i < 5)) || in=$((i + 2)).$3
      add "Functional.${calls[i]}.0.forward" $((i + 10)) "$(statistic "$in")" "$(statistic "$out")"
    done
    finish "$1/step$step/rank0" statistics
  done
}
statistics ref 2 01
statistics bad 2 9
statistics good 2 01
masked msdump next -d bad --ref ref
masked msdump next -d good --ref ref
masked msdump next -d bad --ref ref -out case
files case
sed "s|$PWD|PWD|" case/round-2/candidate.json
msdump check-config case/round-2/candidate.json case/round-2/reference.json --framework pytorch
masked msdump next -d case
masked msdump next -d bad --ref ref -out case
masked msdump next -d bad --ref ref -out case/case.json/deeper

# What the configurations of round 2 dump.
tensors() { # DIR OUTPUT-OF-SIGMOID [SHIFT]: of all other values
  local i data='' stack='' folder=$1/step0/rank0 name out
  mkdir -p "$folder/dump_tensor_data"
  for i in 1 2 3 4; do
    name=Functional.${calls[i]}.0.forward out="$((i + ${3:-0})) 0.$i"
    [[ ${calls[i]} != sigmoid ]] || out=$2
    # shellcheck disable=SC2086  # two numbers
    npy "$folder/dump_tensor_data/$name.output.0.npy" '<f4' '(2,)' "$(f32 $out)"
    npy "$folder/dump_tensor_data/$name.input.0.npy" '<f4' '(2,)' "$(f32 $((i - 1 + ${3:-0})) 0.$((i - 1)))"
    add "$name" $((i + 10)) "$(tensor "$name.input.0.npy")" "$(tensor "$name.output.0.npy")"
  done
  finish "$folder" tensor
}
tensors case/round-2/candidate '7 7.5'
masked msdump next -d case
tensors case/round-2/reference '4 0.4'
masked msdump next -d case
msdump next -d case --json | jq -c '{state, rounds, question, configuration, estimate}, (.pinned[] | [.op_name, .source.line, .step])'
jq -c '.rounds | length' case/case.json
jq -r .state case/round-1/finding.json case/round-2/finding.json

# Where what went in differs already, the range begins earlier.
rm -r case
calls=(linear relu tanh gelu sigmoid silu celu selu elu mish hardtanh softplus softsign logsigmoid)
long() { # DIR VALUE-FROM-THE-TWELFTH-CALL-ON
  local i in out data='' stack=''
  mkdir -p "$1/step0/rank0"
  for i in "${!calls[@]}"; do
    in=$((i + 2)).01 out=$((i + 3)).01
    ((i < 11)) || out=$((i + 3)).$2
    ((i < 12)) || in=$((i + 2)).$2
    add "Functional.${calls[i]}.0.forward" $((i + 10)) "$(statistic "$in")" "$(statistic "$out")"
  done
  finish "$1/step0/rank0" statistics
}
part() { # DIR SCALE: calls 5 to 11
  local i data='' stack='' folder=$1/step0/rank0 name
  mkdir -p "$folder/dump_tensor_data"
  for i in 5 6 7 8 9 10 11; do
    name=Functional.${calls[i]}.0.forward
    npy "$folder/dump_tensor_data/$name.output.0.npy" '<f4' '(2,)' "$(f32 $((2 * $2 * i)) $((i + 1)))"
    npy "$folder/dump_tensor_data/$name.input.0.npy" '<f4' '(2,)' "$(f32 $((2 * $2 * (i - 1))) $i)"
    add "$name" $((i + 10)) "$(tensor "$name.input.0.npy")" "$(tensor "$name.output.0.npy")"
  done
  finish "$folder" tensor
}
long long 01
long wrong 9
masked msdump next -d wrong --ref long -out case
part case/round-2/candidate 2
part case/round-2/reference 1
masked msdump next -d case
jq -c '.tensor.scope' case/round-*/*te.json case/round-*/reference.json

# The same part as the first dump: --config says that it is a range, so what enters it need not enter the network.
echo '{"task":"tensor","level":"L1","tensor":{"scope":["Functional.silu.0.forward","Functional.softplus.0.forward"]}}' >used.json
masked msdump next -d case/round-2/candidate --ref case/round-2/reference --config used.json -out part
masked msdump next -d case/round-2/candidate --ref case/round-2/reference
