# The result CSV of msaccucmp: dump files, arrays, and what it has a row for.
sample=$TESTDATA/sample/rank_0/Net/0/0
cp -r "$sample" candidate
cp -r "$sample" reference
chmod -R u+w candidate reference
show msdump diff candidate reference --profile msaccucmp
# One byte of the last output of a candidate's file, and an operator that only the reference has.
bias=$(cd candidate && echo BiasAdd.*)
printf '\x7f' | dd of="candidate/$bias" bs=1 seek=$(($(stat -c %s "candidate/$bias") - 1)) conv=notrunc status=none
rm candidate/MatMul.*
show msdump diff candidate reference --profile msaccucmp --csv --op 'Default*BiasAdd*' --op '*MatMul*'
show msdump diff candidate reference --profile msaccucmp --exit-zero -out=out/result --op '*MatMul*'
od -c out/result/result.csv | tail -n 3
cmp <(msdump diff candidate reference --profile msaccucmp -j 1 -q) <(msdump diff candidate reference --profile msaccucmp -j 4 -q) &&
  echo 'the same with any number of jobs'

npy a.npy '<f4' '(2,)' '\0\0\200?\0\0\0@'
npy b.npy '<f4' '(2, 1)' '\0\0\200?\0\0@@'
npy c.npy '<f4' '(3,)' '\0\0\200?\0\0@@\0\0\0\0'
show msdump diff a.npy b.npy --profile msaccucmp
show msdump diff a.npy c.npy --profile msaccucmp

# A file that is cut has a row, and the exit code says so.
truncate -s 20 "candidate/$bias"
show msdump diff candidate reference --profile msaccucmp --op 'Default*BiasAdd*'
