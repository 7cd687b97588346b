# One operator: its inputs and outputs, without a graph. Arguments that are not known are tried.
# arrays DIR NAME "SHAPE" NUMBER...
arrays() {
  mkdir -p "$1"
  npy "$1/$2.npy" '<f4' "$3" "$(f32 "${@:4}")"
}
# matmul DIR NUMBER...: an output of [[1 2 3] [4 5 6]] times [[1 0] [0 1] [1 1]], which is 4 5 10 11.
matmul() {
  arrays "$1" MatMul.MatMul_0.0.0.1.input.0 '(2, 3)' 1 2 3 4 5 6
  arrays "$1" MatMul.MatMul_0.0.0.1.input.1 '(3, 2)' 1 0 0 1 1 1
  arrays "$1" MatMul.MatMul_0.0.0.1.output.0 '(2, 2)' "${@:2}"
}
matmul npu 4.000003 5 10 11
matmul gpu 4.000002 5 10 11
matmul good 4.0000005 5 10 11
show msdump check npu --golden expected --rule none
files expected
msdump stats -q expected --columns max,min,l2norm --csv | cut -d, -f4-
# By what is expected alone; by another device, too.
show msdump check npu --standard cann --rule none
for level in cann:L0 cann:L2; do
  for other in gpu good; do show msdump check npu --standard $level --ref $other --rule none; done
done
msdump check npu --standard cann:L0 --ref gpu --golden expected --rule none --json -q | jq -c '.golden[], .summary.standard'
# The other device has to have read the same.
arrays gpu MatMul.MatMul_0.0.0.1.input.1 '(3, 2)' 1 0 0 1 1 2
msdump check npu --standard cann:L0 --ref gpu --rule none --json -q | jq -c '.golden[] | [.standard, .reason, .what]'
show msdump check npu --standard cann:L0 --ref missing
show msdump check npu --standard cann:L0
show msdump check npu --standard cann --ref gpu
show msdump check npu --ref gpu
show msdump check npu --standard cann:L3
# An operator that needs an argument which is not one of a few.
arrays conv Conv2D.Conv_0.0.0.1.input.0 '(1, 1, 2, 2)' 1 2 3 4
arrays conv Conv2D.Conv_0.0.0.1.input.1 '(1, 1, 1, 1)' 2
arrays conv Conv2D.Conv_0.0.0.1.output.0 '(1, 1, 2, 2)' 2 4 6 8
show msdump check conv --golden there --rule none
# Names that do not say the operator; bytes that do not say dtype and shape.
arrays unnamed input0 '(2,)' 1 2
arrays unnamed output0 '(2,)' 1 2
show msdump check unnamed --golden there --rule none
mkdir raw
printf '\0\0\0\0' | tee raw/input0.bin >raw/output0.bin
show msdump check raw --golden there
