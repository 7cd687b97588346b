# The bytes of a report depend neither on -j nor on the CPU.
for i in {1..60}; do
  two_floats "Mul.Default_Mul-op$i.0.0.17000000000000$((i + 10)).output.0.DefaultFormat.npy" \
    "\\0\\0\\x$(printf %02x $((i * 4)))\\x$(printf %02x $((i * 4 % 128)))\\0\\0\\0\\x40"
done
npy Add.Default_Add-op1.0.0.1700000000000099.output.0.DefaultFormat.npy '<f2' '(3,)' '\xff\x7b\x01\0\0\x7c'
msdump check --json -q -j 1 --rule constant >one
for jobs in 2 7; do msdump check --json -q -j $jobs --rule constant | cmp - one; done
MSDUMP_CPU=scalar msdump check --json -q --rule constant | cmp - one
jq -c '.summary | {tensors, errors, warnings, notes}' one
