# Neither the files nor the report depend on the number of threads or on the CPU.
cp -r "$TESTDATA/sample" dump
dump_file dump/Relu.large.1.7.1700000000000001 3 '2 4 256 256 16' '2 60 256 256'
digest() { (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum); }
msdump convert -q -j 1 -d dump -out npy1 -f NCHW --json >r1
for jobs in 2 7; do
  msdump convert -q -j "$jobs" -d dump -out "npy$jobs" -f NCHW --json >"r$jobs"
  cmp r1 "r$jobs" && [[ $(digest npy1) == $(digest "npy$jobs") ]] && echo "-j $jobs: the same"
done
MSDUMP_CPU=scalar msdump convert -q -d dump -out scalar -f NCHW --json >rs
cmp r1 rs && [[ $(digest npy1) == $(digest scalar) ]] && echo 'scalar: the same'
