# OUT may lie inside the dump, or be it: what was written is not read again, and a second run changes nothing.
mkdir dump
dump_file dump/Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
for _ in 1 2; do msdump convert -d dump -out dump/npy -f NCHW; done
for _ in 1 2; do msdump convert -d dump -out dump -f NCHW; done
files dump
