# The next configuration is of the kind that made the dump, for the release and the framework that ran.
work=$(mktemp -d /tmp/msdump-next-XXXXXX) # MindSpore takes no path with a dot
trap 'rm -r "$work"' EXIT
cd "$work" || exit
dump_in() { # FOLDER
  mkdir -p "$1"
  npy "$1/Log.Default_Log-op2.2.1.20000.output.0.DefaultFormat.npy" '<f4' '(2,)' "$(f32 nan 1)"
}
for folder in ms/rank_0/Net/0/3 acl/5/20240102030405/2/model_name/1/0 om/20240102030405/2/7 \
  torchair/worldsize8_global_rank5/graph_2/7 adump/rank_1/20240102030405/step_3; do
  dump_in "$folder"
  msdump next -d "${folder%%/*}" --json | jq -c --arg folder "$folder" '[$folder, .configuration.kind] + (.configuration.candidate | fromjson | keys)'
done
calls() { # FOLDER FRAMEWORK NAME
  mkdir -p "$1/step0/rank0"
  printf '{"task":"statistics","level":"L1","framework":"%s","dump_data_dir":null,"data":{"%s":{"input_args":[],"input_kwargs":{},"output":[%s]}}}' \
    "$2" "$3" '{"type":"Tensor","dtype":"Float32","shape":[2],"Max":"nan","Min":1,"Mean":1,"Norm":1}' >"$1/step0/rank0/dump.json"
}
calls torch pytorch Torch.exp.0.forward
calls mint mindspore Mint.exp.0.forward
mkdir plain && cp torch/step0/rank0/dump.json plain
for folder in torch mint plain; do msdump next -d $folder --json | jq -c '.configuration | [.kind, (.candidate | fromjson.risk_level)]'; done

# A dump may have been moved to a path that MindSpore would not write to.
cp -r ms ms-1.2
msdump next -d ms-1.2 --json | jq -r --arg work "$work" '.configuration.candidate | fromjson.common_dump_settings.path | ltrimstr($work)'

# --config counts more than the files.
echo '{"dump":{"dump_path":"d","dump_list":[]}}' >acl.json
msdump next -d ms --config acl.json --json | jq -c '.configuration.kind'

# An asynchronous dump stays one; the release is the one that was said last.
echo '{"common_dump_settings":{"dump_mode":0,"path":"/d","net_name":"Net","iteration":"3","input_output":0,"kernels":[],"support_device":[0],"op_debug_mode":0}}' >data_dump.json
npy ms/rank_0/Net/0/3/Abs.Default_Abs-op1.1.1.10000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 1 2)"
settings() { jq -c '[.common_dump_settings.file_format, .e2e_dump_settings.enable]' "$1"; }
msdump next -d ms --config data_dump.json --framework-version 2.5 -out case -q >all
settings case/round-2/candidate.json
dump_in case/round-2/candidate/rank_0/Net/0/3
msdump next -d case --framework-version 2.7.1 -q >all
settings case/round-3/candidate.json
jq -c '.common_dump_settings.kernels' case/round-3/candidate.json # the operator before it is one of the first dump
jq -c '.settings | [.kind, .framework_version, .asynchronous]' case/case.json
files case
