# --fail-on root fails for whatever no model judged, and --fail-on unexplained for arguments, too. Nothing compared is no
# agreement at any level.
code() {
  local status=0
  "$@" >/dev/null 2>&1 || status=$?
  echo "$status"
}
levels() {
  echo "$1: any $(code msdump diff --no-recompute "$2" "$3"), unexplained $(code msdump diff --no-recompute "$2" "$3" --fail-on unexplained)," \
    "root $(code msdump diff --no-recompute "$2" "$3" --fail-on root)"
}
two_floats zeros.npy
two_floats ones.npy "$(f32 1 1)"
two_floats nan.npy '\0\0\xc0\x7f\0\0\0\0'
npy other.npy '<f4' '(3,)' '\0\0\0\0\0\0\0\0\0\0\0\0'
levels 'NaN on one side' nan.npy zeros.npy
levels 'another shape' other.npy zeros.npy
levels 'other values' ones.npy zeros.npy
levels 'equal' zeros.npy zeros.npy
safetensors w.safetensors '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' '\0\0\x80\x3f\0\0\0\x40'
safetensors v.safetensors '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' '\0\0\x80\x3f\0\0\0\x41'
levels 'one wrong weight' v.safetensors w.safetensors
mul_net ref chain 0
levels 'nothing in common' w.safetensors ref
show msdump diff --no-recompute w.safetensors ref
msdump diff --no-recompute w.safetensors ref --json 2>/dev/null | jq -c '[.failures[].code], .summary.compared'
mul_net rounded chain 2e-3
levels 'rounding' rounded ref
# An argument that differs, while all tensors agree.
call() {
  mkdir -p "$1/step0/rank0"
  local tensor='{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8], "Max": 2.5, "Min": -1, "Mean": 0.25, "Norm": 5}'
  printf '{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"%s": {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}}}\n' \
    Functional.embedding.0.forward "$tensor" "{\"type\": \"int\", \"value\": $2}" "$tensor" >"$1/step0/rank0/dump.json"
}
call args_a 4096
call args_b 4097
levels 'an integer argument' args_a args_b
msdump diff --no-recompute -q args_a args_b --json | jq -c '[.rows[] | select(.io == "argument") | [.verdict, .a_value, .b_value]], (.first_divergence | length)'
mkdir -p empty/step0/rank0
echo '{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {}}' >empty/step0/rank0/dump.json
levels 'a dump without tensors' empty args_b
mkfifo pipe
show msdump diff --no-recompute args_a args_b --shard 1/1 -out pipe
test -p pipe && echo 'the pipe is still there'
