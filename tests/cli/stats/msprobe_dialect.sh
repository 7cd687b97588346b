# msprobe has no dialect: the note on the one that is used does not ask for a version that nothing could say.
mkdir -p dump/step0/rank0/dump_tensor_data
cat >dump/step0/rank0/dump.json <<'JSON'
{"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": "dump_tensor_data", "data": {"Torch.add.0.forward": {
  "input_args": [], "input_kwargs": {},
  "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "data_name": "Torch.add.0.forward.output.0.npy"}]}}}
JSON
two_floats dump/step0/rank0/dump_tensor_data/Torch.add.0.forward.output.0.npy "$(f32 1 2)"
show msdump stats dump
