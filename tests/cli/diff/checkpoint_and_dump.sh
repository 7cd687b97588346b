# A checkpoint is compared with the parameters of a dump: of its first step, and without a word for each activation.
values() { printf '%s' '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40'; } # 1 2 3 4
for step in 0 1; do
  mkdir -p "dump/rank_0/Net/0/$step"
  npy "dump/rank_0/Net/0/$step/Parameter.fc.weight.0.0.170000000000000$step.output.0.DefaultFormat.npy" '<f4' '(2, 2)' "$(values)"
  npy "dump/rank_0/Net/0/$step/Parameter.fc.bias.0.0.170000000000000$step.output.0.DefaultFormat.npy" '<f4' '(4,)' "$(values)"
  npy "dump/rank_0/Net/0/$step/ReLU.Default_ReLU-op0.0.0.170000000000000$step.output.0.DefaultFormat.npy" '<f4' '(4,)' "$(values)"
done
data() { printf '%s\\0\\0\\x80\\x3f\\0\\0\\0\\x40\\0\\0\\x40\\x40\\0\\0\\0\\x40' "$(values)"; } # the bias ends in 2
safetensors net.safetensors '{"fc.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"fc.bias":{"dtype":"F32","shape":[4],"data_offsets":[16,32]}}' "$(data)"
show msdump diff net.safetensors dump
show msdump diff dump net.safetensors --a-step 1
msdump diff -q net.safetensors dump --json | jq -c '.summary.compared, (.rows[] | [.op_name, .a.path, .b.path, .verdict])'

# The parameters that msprobe has of each call of a module.
mkdir -p probe/step0/rank/dump_tensor_data
for call in 0 1; do
  npy "probe/step0/rank/dump_tensor_data/Cell.fc.Dense.forward.$call.parameters.weight.npy" '<f4' '(2, 2)' "$(values)"
  npy "probe/step0/rank/dump_tensor_data/Cell.fc.Dense.forward.$call.output.0.npy" '<f4' '(4,)' "$(values)"
done
show msdump diff net.safetensors probe
