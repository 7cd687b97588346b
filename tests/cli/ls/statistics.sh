# The table of a dump of statistics shows them; the rows for machines stay those of an inventory.
mkdir -p dump/step0/rank0
cat >dump/step0/rank0/dump.json <<'JSON'
{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Torch.add.0.forward": {
  "input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.5, "Min": -0.25, "Mean": 0.625, "Norm": 1.520691}],
  "input_kwargs": {},
  "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 3.0, "Min": null, "Mean": 0.5, "Norm": 3.25}]}}}
JSON
show msdump ls dump
msdump ls dump --jsonl | jq -c 'select(.io == "output") | [keys_unsorted[-2:], .bytes]'
# Where there are elements, stats computes.
scaled_net net
msdump ls net --op-type Mul --io output
