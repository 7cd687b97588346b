# Without a reference the next dump is planned after what check found; the case keeps what the first round was told.
masked() { show "$@" | sed "s|$PWD|PWD|g"; }
entry() { # NAME INPUT-MAX OUTPUT-MAX
  local statistic='{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":%s,"Min":%s,"Mean":%s,"Norm":%s}'
  # shellcheck disable=SC2059  # the statistic is the format
  printf '"%s":{"input_args":[%s],"input_kwargs":{},"output":[%s]}' "$1" \
    "$(printf "$statistic" "$2" "$2" "$2" "$2")" "$(printf "$statistic" "$3" "$3" "$3" "$3")"
}
dump() { # FOLDER ENTRY...
  local folder=$1/rank0
  shift
  mkdir -p "$folder"
  printf '{"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{%s}}' \
    "$(IFS=, && echo "$*")" >"$folder/dump.json"
}
dump bad/step0 "$(entry Functional.relu.0.forward 2 2)" "$(entry Torch.log.0.forward 2 '"nan"')"
dump good/step0 "$(entry Functional.relu.0.forward 2 2)" "$(entry Torch.log.0.forward 2 0.6931472)"
masked msdump next -d bad
masked msdump next -d good
masked msdump next -d bad --csv
masked msdump next -d good --csv

# A range, and what enters it is bad already: round 2 has the calls before.
echo '{"task":"statistics","level":"L1","statistics":{"scope":["Torch.log.0.forward","Torch.exp.0.forward"]}}' >used.json
dump part/step5 "$(entry Torch.mul.0.forward 1 1)" "$(entry Torch.log.0.forward '"nan"' '"nan"')"
masked msdump next -d part --config used.json -out case
files case
jq -c .settings,.rounds case/case.json | sed "s|$PWD|PWD|g"
msdump check-config case/round-2/candidate.json --framework pytorch
masked msdump next -d case
dump case/round-2/candidate/step5 "$(entry Torch.mul.0.forward 1 1)" "$(entry Torch.div.0.forward 1 '"inf"')" \
  "$(entry Torch.log.0.forward '"inf"' '"nan"')"
masked msdump next -d case
masked msdump next -d case --config used.json

# A gradient explodes where the dump begins: the steps before.
dump late/step9 '"Module.fc.Linear.parameters_grad":{"weight":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1e9,"Min":1e9,"Mean":1e9,"Norm":1.4e9}]}'
msdump next -d late --json | jq -c '{state, question, estimate, kinds: [.rows[]? | [.state, .kind, .rank, .step]]}'
msdump next -d late --json | jq -r .configuration.candidate | jq -c '[.task, .step, .rank]'
cp -r late early && mv early/step9 early/step0
masked msdump next -d early | head -4

# MindSpore: the release and the network's name stay those of the first round. It takes no path with a dot.
work=$(mktemp -d /tmp/msdump-next-XXXXXX)
trap 'rm -r "$work"' EXIT
cd "$work" || exit
mkdir -p ms/rank_0/Net/0/3
npy ms/rank_0/Net/0/3/Log.Default_Log-op2.2.1.20000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 nan 1)"
echo '{"common_dump_settings":{"dump_mode":1,"path":"/d","net_name":"LeNet","iteration":"3","input_output":1,"kernels":["Default/Log-op2"],"support_device":[0]},"e2e_dump_settings":{"enable":true,"trans_flag":true}}' >data_dump.json
msdump next -d ms --framework-version 2.3 | grep '^dump'
masked msdump next -d ms --config data_dump.json --framework-version 2.3 -out of_ms
jq -c '.common_dump_settings | [.net_name, .kernels, .saved_data, .iteration, .support_device[0], .path]' of_ms/round-2/candidate.json | sed "s|$PWD|PWD|"
jq -c .settings of_ms/case.json
mkdir -p of_ms/round-2/candidate/rank_0/Net/0/3
cp ms/rank_0/Net/0/3/* of_ms/round-2/candidate/rank_0/Net/0/3
msdump next -d of_ms -q | head -3
jq -c '.common_dump_settings | .net_name' of_ms/round-3/candidate.json
masked msdump next -d ms --config data_dump.json -out of.ms

# An overflow that the device noted of a task without files: what overflows is asked for, once.
mkdir -p noted/rank_0/Net/0/3
two_floats noted/rank_0/Net/0/3/Mul.Default_Mul-op1.8.7.1700000000000001.output.0.DefaultFormat.npy '\0\0\x80\x3f\0\0\0\x40'
echo '{"AI Core":{"status":32,"task_id":57,"stream_id":7}}' \
  >noted/rank_0/Net/0/3/Opdebug.Node_OpDebug.9.9.1700000000000002.output.0.json
masked msdump next -d noted -out of_noted
jq -c '.common_dump_settings | [.op_debug_mode, .kernels, .iteration]' of_noted/round-2/candidate.json
msdump next -d noted --json | jq -c '[.rows[0] | .state, .kind, .op_name, .step], .estimate'
cp -r noted/rank_0 of_noted/round-2/candidate
masked msdump next -d of_noted
mv of_noted/round-2/candidate/rank_0/Net/0/3/Mul.Default_Mul-op1.{8,57}.7.1700000000000001.output.0.DefaultFormat.npy
masked msdump next -d of_noted
