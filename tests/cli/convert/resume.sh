# --resume skips what is complete and newer than its input, and nothing else.
mkdir dump
for n in 1 2 3; do dump_file "dump/Relu.n$n.$n.7.170000000000000$n" 3 '1 1 2 2 16' '1 5 2 2'; done
msdump convert -q -d dump -out npy -f NCHW
truncate -s 20 npy/Relu.n2.2.7.1700000000000002.output.0.1x5x2x2.npy
touch -d '2001-01-01' npy/Relu.n3.3.7.1700000000000003.output.0.1x5x2x2.npy
msdump convert -d dump -out npy -f NCHW --resume --jsonl | grep -o '"status":"[a-z]*"'
msdump convert -d dump -out npy -f NCHW --resume
