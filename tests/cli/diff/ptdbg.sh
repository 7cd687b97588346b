# ptdbg_ascend (2023): its names are those of today, its dump.pkl has the statistics of a run, the folders say rank and step.
rows() { msdump ls -q --jsonl "$@" | jq -c '[.rank, .step, .op_type, .op_name, .io, .slot, .dtype, .shape, .max, .mean]'; }
stats() { printf '["%s", 1, [], "torch.%s", [2], %s]\n' "$@"; }
old=old/ptdbg_dump_v4.0/step1/rank0 new=new/step1/rank0/dump_tensor_data
mkdir -p $old/dump $new
{
  stats Functional_relu_0_forward_input.0 float32 '[1.0, -2.0, -0.5]'
  echo '["Functional_relu_0_forward_input.1", 1, [], "<class '"'bool'"'>", "[]", [false, false, false]]'
  echo '["Functional_relu_0_forward_stack_info", [["/net.py", "12", "forward", "y = f(x)"]]]'
  stats Functional_relu_0_forward_output.0 bfloat16 '[1.0, 0.0, 0.5]'
} >$old/dump.pkl
for folder in "$old/dump/Functional_relu_0_forward_" "$new/Functional.relu.0.forward."; do
  npy "${folder}input.0.npy" '<f4' '(2,)' "$(f32 1 -2)"
  npy "${folder}output.0.npy" '<f4' '(2,)' "$(f32 1 0)"
done
rows old
show msdump diff old new
show msdump info old
show msdump info $old/dump.pkl
# Statistics alone, of two ranks: rank 1 of one run has another output.
for side in a b; do
  for rank in 0 1; do
    mkdir -p $side/run_v2.0/rank$rank
    largest=2.0
    [[ $side$rank != a1 ]] || largest=4.0
    for io in input output; do stats Tensor_mul_0_forward_$io.0 float32 '[1.0, 1.0, 1.0]'; done >$side/run_v2.0/rank$rank/api_stack_dump.pkl
    stats Tensor_add_0_forward_input.0 float32 '[1.0, 1.0, 1.0]' >>$side/run_v2.0/rank$rank/api_stack_dump.pkl
    stats Tensor_add_0_forward_output.0 float32 "[$largest, 1.0, 1.0]" >>$side/run_v2.0/rank$rank/api_stack_dump.pkl
  done
done
show msdump diff a b
rows a
# Not one, and one that was cut off.
mkdir -p bad/run_v2.0/rank0
echo '{"Functional": 1}' >bad/run_v2.0/rank0/dump.pkl
stats Tensor_mul_0_forward_output.0 float32 '[1.0, 1.0, 1.0]' >>bad/run_v2.0/rank0/dump.pkl
printf '["Tensor_mul_0_forward_output.1", 1, [], "torch.fl' >>bad/run_v2.0/rank0/dump.pkl
show msdump ls -d bad
# Against statistics of today's msprobe; checksums of the last versions.
tensor() { printf '{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": %s, "Min": 0.0, "Mean": 0.5, "Norm": 1.0}' "$1"; }
mkdir -p past/run_v4.0/step0/rank0 today/step0/rank0 sums_a/run_v6.0/rank0 sums_b/run_v6.0/rank0
stats Functional_relu_0_forward_input.0 float32 '[1.0, 0.0, 0.5, 1.0]' Functional_relu_0_forward_output.0 float32 '[2.0, 0.0, 0.5, 1.0]' \
  >past/run_v4.0/step0/rank0/dump.pkl
cat >today/step0/rank0/dump.json <<JSON
{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Functional.relu.0.forward":
{"input_args": [$(tensor 1.0)], "input_kwargs": {}, "output": [$(tensor 1.0)]}}}
JSON
show msdump diff past today
for side in a b; do
  echo '["Functional_relu_0_forward_output.0", 1, "0000000'$side'", "torch.float32", [2], []]' >sums_$side/run_v6.0/rank0/dump.pkl
done
show msdump diff sums_a sums_b
# The lines of operators are those of the call stacks in the table.
for side in fast slow; do
  mkdir -p $side/run_v4.0/rank0
  largest=2.0
  [[ $side != fast ]] || largest=4.0
  {
    stats Functional_gelu_0_forward_input.0 float32 '[1.0, 1.0, 1.0]' Functional_gelu_0_forward_output.0 float32 "[$largest, 1.0, 1.0]"
    echo '["Functional_gelu_0_forward_stack_info", [["/opt/torch/nn/functional.py", "7", "gelu", "return f(x)"], ["/home/user/net.py", "12", "forward", "y = gelu(x)"]]]'
  } >$side/run_v4.0/rank0/api_stack_dump.pkl
done
show msdump diff fast slow
show msdump find-op --line net.py:12 -d fast
