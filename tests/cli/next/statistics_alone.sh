# Statistics prove nothing here, and something differs by more than noise: the first call whose outputs differ after equal
# inputs is asked about. Equal dumps ask nothing.
entry() { # NAME INPUT-MAX OUTPUT-MAX [MEAN]
  local statistic='{"type":"torch.Tensor","dtype":"torch.float32","shape":[64],"Max":%s,"Min":-1,"Mean":%s,"Norm":9}'
  # shellcheck disable=SC2059  # the statistic is the format
  printf '"%s":{"input_args":[%s],"input_kwargs":{},"output":[%s]}' "$1" \
    "$(printf "$statistic" "$2" "${4:-0.25}")" "$(printf "$statistic" "$3" "${4:-0.25}")"
}
dump() { # FOLDER ENTRY...
  local folder=$1/step0/rank0
  shift
  mkdir -p "$folder"
  printf '{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' \
    "$(IFS=, && echo "$*")" >"$folder/dump.json"
}
dump ref "$(entry Torch.mul.0.forward 1 2)" "$(entry Torch.sort.0.forward 2 3)" "$(entry Torch.exp.0.forward 3 4)"
dump bad "$(entry Torch.mul.0.forward 1 2)" "$(entry Torch.sort.0.forward 2 5)" "$(entry Torch.exp.0.forward 5 7)"
msdump next -d bad --ref ref 2>/dev/null | head -n 2
msdump next -d ref --ref ref 2>/dev/null | head -n 1

# A call whose inputs were not dumped has none that agree.
without_inputs() { # NAME OUTPUT-MAX
  entry "$1" 0 "$2" | sed 's/"input_args":.*,"input_kwargs"/"input_args":[],"input_kwargs"/'
}
dump ref2 "$(without_inputs Torch.rand.0.forward 3)" "$(entry Torch.mul.0.forward 1 2)" "$(entry Torch.sort.0.forward 2 3)" "$(entry Torch.exp.0.forward 3 4)"
dump bad2 "$(without_inputs Torch.rand.0.forward 6)" "$(entry Torch.mul.0.forward 1 2)" "$(entry Torch.sort.0.forward 2 5)" "$(entry Torch.exp.0.forward 5 7)"
msdump next -d bad2 --ref ref2 2>/dev/null | head -n 2
