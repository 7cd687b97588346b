# Calls that msprobe did not dump: how to dump what a module computes, and what ran between two calls.
tensor() { # VALUE
  printf '{"type":"%s","dtype":"%s","shape":[2],"Max":%s,"Min":1.0,"Mean":%s,"Norm":%s}' "$tensor_type" "$dtype" "$1" "$1" "$1"
}
dump() { # DIR LEVEL FRAMEWORK [NAME INPUT OUTPUT]...: forward calls
  local dir=$1/step0/rank0 level=$2 framework=$3 data='' dtype=Float32 tensor_type=mindspore.Tensor
  shift 3
  [[ $framework == mindspore ]] || dtype=torch.float32 tensor_type=torch.Tensor
  mkdir -p "$dir"
  while (($# > 0)); do
    data+="${data:+,}\"$1\":{\"input_args\":[$(tensor "$2")],\"input_kwargs\":{},\"output\":[$(tensor "$3")]}"
    shift 3
  done
  printf '{"task":"statistics","level":"%s","framework":"%s","dump_data_dir":null,"data":{%s}}' "$level" "$framework" "$data" >"$dir/dump.json"
  echo '{}' | tee "$dir/stack.json" >"$dir/construct.json"
}
config() { msdump diff -q --json "$1" "$2" | jq -c '.first_divergence[] | {op_name, kind, dump_config}'; }

# Modules alone: one of an own class may hide calls, a Linear does not.
modules() { # DIR BLOCK LINEAR
  dump "$1" L0 pytorch Module.block.Block.forward.0 2.0 "$2" Module.fc.Linear.forward.0 4.0 "$3"
}
modules ref 3.0 5.0
modules block 3.5 5.0
modules linear 3.0 5.5
show msdump diff -q block ref
config block ref
config linear ref

# Between modules.
dump ref2 L0 mindspore Cell.a.Dense.forward.0 2.0 3.0 Cell.b.Dense.forward.0 4.0 5.0
dump bad2 L0 mindspore Cell.a.Dense.forward.0 2.0 3.0 Cell.b.Dense.forward.0 4.5 5.5
config bad2 ref2
# Between calls that a list chose. What comes first has nothing before it.
dump ref3 L1 pytorch Functional.linear.0.forward 2.0 3.0 Torch.relu.4.forward 4.0 5.0
dump bad3 L1 pytorch Functional.linear.0.forward 2.0 3.0 Torch.relu.4.forward 4.5 5.5
show msdump diff -q bad3 ref3
config bad3 ref3
msdump diff -q --json bad3 ref3 | jq '.first_divergence[0].dump_config.candidate + {dump_path: "/dump"}' >config.json
msdump check-config config.json --framework pytorch
dump bad4 L1 pytorch Functional.linear.0.forward 2.5 3.5 Torch.relu.4.forward 4.0 5.0
config bad4 ref3
