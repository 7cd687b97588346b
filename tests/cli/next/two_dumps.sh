# Two dumps below one path: a suspect says its own, and the calls before it are of that one.
entry() { # NAME INPUT-MAX OUTPUT-MAX
  local statistic='{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":%s,"Min":%s,"Mean":%s,"Norm":%s}'
  # shellcheck disable=SC2059  # the statistic is the format
  printf '"%s":{"input_args":[%s],"input_kwargs":{},"output":[%s]}' "$1" \
    "$(printf "$statistic" "$2" "$2" "$2" "$2")" "$(printf "$statistic" "$3" "$3" "$3" "$3")"
}
dump() { # FOLDER ENTRY...
  local folder=$1/step0/rank0
  shift
  mkdir -p "$folder"
  printf '{"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{%s}}' \
    "$(IFS=, && echo "$*")" >"$folder/dump.json"
}
relu=$(entry Functional.relu.0.forward 2 2)
gelu=$(entry Functional.gelu.0.forward 2 3)
dump bad/prefill "$relu" "$(entry Torch.exp.0.forward 2 7)"
dump bad/decode "$gelu" "$(entry Torch.exp.0.forward 3 '"nan"')"
dump off/prefill "$relu" "$(entry Torch.exp.0.forward 2 7)"
dump off/decode "$gelu" "$(entry Torch.exp.0.forward 3 25)"
dump good/prefill "$relu" "$(entry Torch.exp.0.forward 2 7)"
dump good/decode "$gelu" "$(entry Torch.exp.0.forward 3 20)"
show msdump next -d bad
show msdump next -d bad --csv
msdump next -d off --ref good | sed '/^$/,$ d'
msdump next -d off --ref good --json | jq -c '[.rows[] | [.state, .rank, .step, .dump, .op_name]], .estimate.tensors'
# Of a single dump nothing is said of it.
msdump next -d off/decode --ref good/decode --json | jq -c '.rows[] | has("dump")'
