# Statistics: a fault that begins in a later step, on one rank or on all. Its inputs agree, so it is no rounding.
# stats DIR FACTOR STEP: two ranks, three steps of four blocks; block 2 gives FACTOR times as much from STEP on.
stats() {
  local dir=$1 factor=$2 from=$3 step rank block value next folder
  for step in 0 1 2; do
    for rank in 0 1; do
      folder=$dir/step$step/rank$rank
      mkdir -p "$folder"
      value=$((1000 + 7 * step + 3 * rank))
      {
        printf '{"task": "statistics", "level": "L0", "framework": "pytorch", "dump_data_dir": null, "data": {'
        for block in 0 1 2 3; do
          next=$((value * 13 / 10 + block))
          ((block != 2 || step < from)) || next=$((next * factor / 10))
          printf '%s"Module.layers.%d.Block.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}' \
            "$( ((block == 0)) || echo ', ')" "$block" "$(tensor "$value")" "$(tensor "$next")"
          value=$next
        done
        printf '}}\n'
      } >"$folder/dump.json"
    done
  done
}
# tensor SIZE: a float32 tensor of 128 elements up to SIZE.
tensor() {
  printf '{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 16], "Max": %s.5, "Min": -%s.25, "Mean": 0.125, "Norm": %s.75}' \
    "$1" "$1" "$(($1 * 7))"
}
stats ref 10 3
for from in 0 1 2; do
  stats "bad$from" 15 "$from"
  msdump diff -q "bad$from" ref --json | jq -c '[.first_divergence[] | [.op_name, .step, .rank, (.places | length)]]'
done
msdump diff -q bad2 ref --json | jq -c '[.summary.explained.downstream, .summary.explained.noise, .summary.unexplained]'
msdump diff -q bad2 ref --explain Module.layers.2.Block.forward.0 --step 2 --rank 0 | tail -n 1
msdump diff -q ref ref --json | jq -c '.first_divergence'
