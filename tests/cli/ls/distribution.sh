# Tensors that are parts of larger ones, as msprobe 26.2.0 describes PyTorch's DTensor and MindSpore's layout.
mkdir -p step0/rank0
cat >step0/rank0/dump.json <<'JSON'
{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Torch.matmul.0.forward":
{"input_args": [{"type": "torch.distributed.tensor.DTensor", "dtype": "torch.float32", "shape": [4, 6], "Max": 1.5, "Min": -2,
"Mean": 0, "Norm": 5, "device_mesh": [[0, 1], [2, 3]], "placements": [{"Shard": {"dim": 0}}, {"Replicate": {}}]},
{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [6], "Max": 1, "Min": 1, "Mean": 1, "Norm": 1,
"layout": {"Device Matrix": [2, 4], "Interleaved": "No", "Tensor Map": [1, -1]}}],
"output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": 1, "Min": 1, "Mean": 1, "Norm": 2}]}}}
JSON
show msdump ls step0
msdump ls step0 --jsonl | jq -c '{slot, io, distribution}'
msdump ls step0 --csv | cut -d, -f17- | head -3
msdump info step0/rank0/dump.json | grep distributed
