# A line end in a name from a file does not make a line of its own.
dump_json() {
  mkdir -p "$1/step0/rank0"
  cat >"$1/step0/rank0/dump.json" <<END
{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {
  "Functional.x\nfirst divergence: FORGED (Mul).0.forward": {
    "input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": -1.0, "Mean": 0.5,
      "Norm": 1.5}],
    "input_kwargs": {},
    "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": $2, "Min": 0.0, "Mean": 0.5,
      "Norm": $2}]}}}
END
}
dump_json bad 9.0
dump_json ref 1.0
show msdump diff bad ref
show msdump diff bad ref --explain '*'
