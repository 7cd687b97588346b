# --dry-run shows what would be written and writes nothing; scripts get one row a tensor.
cp -r "$TESTDATA/sample" dump
msdump convert -q -d dump -out npy -f nchw --dry-run --op-type Conv2D
msdump convert -q -d dump -out npy -f NCHW --dry-run --op-type ReduceMean --jsonl
msdump convert -q -d dump -out npy --dry-run --op-type ReduceMean --csv
ls
