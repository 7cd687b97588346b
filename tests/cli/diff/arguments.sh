# Arguments that one side has as tensors or constants, and the other as attributes of a graph of GE.
folder=device/20260101000000/0/net/1/0
norm=Default/a-LayerNorm/LayerNorm rms=Default/b-RmsNorm/RmsNorm
x=(1 -2 3 4) gamma=(1 1 1 1) beta=(0 0 0 1) y=(0.2 -1.5 0.7 1.6) z=(0.3 -1.4 0.8 1.5)
mkdir -p $folder

# on_device TYPE.NAME TIME TENSOR NUMBER...
on_device() {
  local path=$folder/$1.0.0.170000000000000$2.$3.ND.float32.npy
  shift 3
  npy "$path" '<f4' "($#,)" "$(f32 "$@")"
}
# attribute KEY FIELD VALUE
attribute() { printf '    attr {\n      key: "%s"\n      value {\n        %s: %s\n      }\n    }\n' "$1" "$2" "$3"; }
# op NAME TYPE INPUT...; attributes on stdin
op() {
  printf '  op {\n    name: "%s"\n    type: "%s"\n' "$1" "$2"
  (($# < 3)) || printf '    input: "%s"\n' "${@:3}"
  cat
  printf '    input_desc {\n      dtype: DT_FLOAT\n      shape {\n        dim: 4\n      }\n      layout: "ND"\n    }\n'
  printf '    output_desc {\n      dtype: DT_FLOAT\n      shape {\n        dim: 4\n      }\n      layout: "ND"\n    }\n  }\n'
}
# graph EPSILON EPSILON: of the device
graph() {
  printf 'graph {\n  name: "net_0"\n'
  op x Data </dev/null && op gamma Data </dev/null && op beta Data </dev/null
  { attribute begin_norm_axis i 0 && attribute begin_params_axis i 0 && attribute epsilon f "$1"; } |
    op $norm-op7 LayerNorm x:0 gamma:0 beta:0
  attribute epsilon f "$2" | op $rms-op9 RmsNorm $norm-op7:0 gamma:0
  printf '}\n'
}

normalised=${norm//\//_} rooted=${rms//\//_}
on_device "LayerNorm.$normalised-op7" 1 input.0 "${x[@]}"
on_device "LayerNorm.$normalised-op7" 1 input.1 "${gamma[@]}"
on_device "LayerNorm.$normalised-op7" 1 input.2 "${beta[@]}"
on_device "LayerNorm.$normalised-op7" 1 output.0 "${y[@]}"
on_device "RmsNorm.$rooted-op9" 2 input.0 "${y[@]}"
on_device "RmsNorm.$rooted-op9" 2 input.1 "${gamma[@]}"
on_device "RmsNorm.$rooted-op9" 2 output.0 "${z[@]}"
on_device TransData.trans_TransData_3 3 output.0 "${x[@]}"
dumped host "LayerNorm.$normalised-op1" 1 input.0 "${x[@]}"
dumped host "LayerNorm.$normalised-op1" 1 input.1 "${gamma[@]}"
dumped host "LayerNorm.$normalised-op1" 1 input.2 "${beta[@]}"
dumped host "LayerNorm.$normalised-op1" 1 input.3 -1
dumped host "LayerNorm.$normalised-op1" 1 input.4 -1
dumped host "LayerNorm.$normalised-op1" 1 input.5 0.00001
dumped host "LayerNorm.$normalised-op1" 1 output.0 "${y[@]}"
dumped host "RmsNorm.$rooted-op2" 2 input.0 "${y[@]}"
dumped host "RmsNorm.$rooted-op2" 2 input.1 "${gamma[@]}"
dumped host "RmsNorm.$rooted-op2" 2 output.0 "${z[@]}"
mkdir -p host/rank_0/graphs
{
  ir_node 0 LayerNorm '%para1_x, %para1_x, %para1_x, I64(-1), I64(-1), F32(1e-05)' $norm-op1 10
  ir_node 1 RmsNorm '%0, %para1_x, F32(1e-05)' $rms-op2 11
} | ir_graph >host/rank_0/graphs/ms_output_trace_code_graph_0.ir

# The same epsilon, with the rounding of a float32.
graph 9.9999997e-06 1e-5 >ge_proto_00000004_Build.txt
show msdump diff device host
msdump diff -q device host --jsonl | jq -c 'select(.verdict == "skipped") | [.io, .slot, .reason]'

graph 0.001 0.002 >ge_proto_00000004_Build.txt
show msdump diff device host
msdump diff -q device host --json >document
jq -c '.summary' document
jq -c '.rows[] | select(.verdict == "differ") | [.op_name, .io, .slot, .a_value, .b_value, .metrics.count, .source.line, .reason]' document
jq -c '.first_divergence[] | [.op_name, .kind, .source.line, .reason, .evidence.inputs]' document
msdump diff -q device host --csv | grep -c ',argument,epsilon,'
# Operators whose arguments differ in the same way: the first is the cause.
graph 0.001 0.001 >ge_proto_00000004_Build.txt
msdump diff -q device host --json | jq -c '[.summary.differ, [.first_divergence[].op_name]]'
echo "exchanged:"
msdump diff -q host device --jsonl | jq -c 'select(.verdict == "differ") | .reason'
echo "accepted:"
msdump diff -q device host --write-baseline accepted.json >/dev/null
show msdump diff -q device host --baseline accepted.json
