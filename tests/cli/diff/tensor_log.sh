# Hashes of tensors by PyTorch's DebugMode: equal or not, in logs with any name.
debug_mode() {
  printf 'Total captured tensor hash ops: 2\n====\n\n'
  printf '[Net.fc/op_0_aten::addmm.default]\n  Call type: torch op\n  Call index: 1\n  Call depth: 2\n'
  printf '  Input hashes: [0][0]=1.25, [0][1]=12.5\n  Output hashes: <root>=%s\n\n' "$1"
  printf '[Net/op_0_aten::relu.default]\n  Input hashes: [0][0]=%s\n  Output hashes: <root>=7\n\n' "$1"
}
debug_mode 33.5 >a.log
debug_mode 33.500000000000007 >b.log
show msdump diff a.log b.log
show msdump diff a.log a.log
show msdump info a.log
msdump ls -q --jsonl a.log | jq -c '[.op_type, .op_name, .io, .slot]'
debug_mode '"NaN"' >nan.log
debug_mode '"Infinity"' >inf.log
show msdump diff nan.log b.log
show msdump diff inf.log b.log
show msdump diff inf.log inf.log
# torchtitan: a log for each rank, with statistics of the outputs.
torchtitan() {
  printf 'Total captured activations: 2\nExcluded ops dispatched: t, view\n====\n\n'
  for op in 0_mm 1_add; do
    printf '[layers.0.wq/op_%s]\n  Shape: torch.Size([2, 600]), Dtype: torch.bfloat16\n  L2 norm: 2.000000e+01\n' $op
    printf '  Min: -1.000000e+00\n  Max: %s\n  Mean: 1.000000e-02\n  Output hash: 6.000000e+02\n' "$1"
    printf '  Input hashes: 5.000000e+02, 1.000000e+03\n  Input producers: ;\n  Location: common/attention.py:5\n\n'
  done
}
for side in eager traced; do
  mkdir -p $side/numerics
  for rank in 0 1; do torchtitan 2.000000e+00 >$side/numerics/rank_${rank}_activations.log; done
done
sed -i '/op_1_add/,$ { s/Max: .*/Max: 3.000000e+00/; s/Output hash: .*/Output hash: 6.010000e+02/ }' eager/numerics/rank_1_activations.log
show msdump diff eager traced
show msdump info eager
msdump ls -q --jsonl eager | jq -c '[.rank, .op_type, .op_name, .io, .slot, .dtype, .shape]'
# Not one.
echo 'training started' >eager/numerics/rank_0_activations.log
show msdump ls -d eager/numerics/rank_0_activations.log
# In folders DebugMode's are found by their first line, with the ranks of their names: not other logs, nor beside another dump.
mkdir -p run other mixed
for rank in 0 1; do
  debug_mode 33.5 >run/hash_rank$rank.log
  debug_mode 3$rank.5 >other/hash_rank$rank.txt
done
echo 'training started' >run/train.log
show msdump diff run other
show msdump info run
cp a.log mixed
echo '{"task": "statistics", "level": "mix", "dump_data_dir": null, "data": {}}' >mixed/dump.json
show msdump ls --jsonl mixed
