# The result CSV of msprobe compare, rank by rank and step by step.
# dump_json STEP RANK MAX: statistics of one call.
dump_json() {
  mkdir -p "$1/$2"
  cat >"$1/$2/dump.json" <<END
{"task": "statistics", "level": "L1", "framework": "mindspore", "dump_data_dir": null, "data": {
  "Functional.relu.0.forward": {
    "input_args": [{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "Max": 1.0, "Min": -1.0, "Mean": 0.0,
      "Norm": 1.5}],
    "input_kwargs": {},
    "output": [{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "Max": $3, "Min": 0.0, "Mean": 0.5,
      "Norm": $3}]}}}
END
}
for step in 0 1; do
  for rank in 0 1; do
    dump_json npu/step$step rank$rank 1.0
    dump_json bench/step$step rank$rank 1.0
  done
done
dump_json npu/step1 rank1 9.0
dump_json npu/step1 rank0 Infinity
show msdump diff npu/step0/rank0/dump.json bench/step0/rank0/dump.json --profile msprobe
show msdump diff npu bench --profile msprobe
show msdump diff npu bench --profile msprobe --step 1
show msdump diff npu bench --profile msprobe --step 1 -out results
files results
show msdump diff npu bench --profile msprobe:pandas2 --a-step 1 --b-step 0 --a-rank 1 --b-rank 0 -q
show msdump diff npu --profile msprobe --a-step 1 --b-step 0 --rank 1 --exit-zero
show msdump diff npu bench --profile msprobe --step 5
show msdump diff npu bench --profile msprobe --step 0-1

# Which mapping a file is follows from what is in it.
cd npu/step0/rank0 || exit
echo 'Functional.relu.0.forward.input.0: Functional.relu.0.forward.input.0' >data.yaml
printf '%s\n' '- ms_api: Functional.relu' '  pt_api: Functional.relu' '  ms_args: [0]' '  pt_args: [0]' \
  '  ms_output: [0]' '  pt_output: [0]' >api.yaml
echo 'conv.Conv2d: conv.Conv2d' >cell.yaml
echo 'just a text' >text.yaml
echo 'TopLayer: {conv: conv}' >layer.yaml
for map in data.yaml api.yaml cell.yaml layer.yaml api cell text.yaml none.yaml; do
  show msdump diff . . --profile msprobe --map $map -q | sed 's/^Functional.*/../'
done
