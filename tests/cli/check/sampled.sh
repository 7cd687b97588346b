# A product of 2^24 multiplications and more is sampled: an element in a row that is not computed anyway is found by the projection.
name=Torch.matmul.0.forward
call() {
  local tensor='{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [300, 300], "data_name"'
  cat <<JSON
{"task": "tensor", "level": "L1", "framework": "pytorch", "data": {"$name": {
  "input_args": [$tensor: "$name.input.0.npy"}, $tensor: "$name.input.1.npy"}], "input_kwargs": {}, "output": [$tensor: "$name.output.0.npy"}]}}}
JSON
}
for dump in right wrong; do
  mkdir -p $dump/step0/rank0/dump_tensor_data
  call >$dump/step0/rank0/dump.json
  for tensor in input.0 input.1 output.0; do
    npy $dump/step0/rank0/dump_tensor_data/$name.$tensor.npy '<f4' '(300, 300)'
    head -c 360000 /dev/zero >>$dump/step0/rank0/dump_tensor_data/$name.$tensor.npy
  done
done
# Row 41, column 7, in little endian: 1.5.
printf '\0\0\xc0\x3f' | dd of=wrong/step0/rank0/dump_tensor_data/$name.output.0.npy bs=1 seek=$((128 + 4 * (41 * 300 + 7))) conv=notrunc status=none
for extent in '' =sample =all; do
  for dump in right wrong; do
    show msdump check $dump --recompute$extent --rule none
    msdump check $dump --recompute$extent --rule none --json -q |
      jq -c '.summary.recompute.sampled, (.recompute[] | [.sampled == null, .wrong_elements, .of, .worst])'
  done
done
show msdump diff wrong right --recompute=some
show msdump check wrong --recompute=some
show msdump check wrong --recompute --no-recompute
