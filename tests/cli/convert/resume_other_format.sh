# --resume keeps no array that was made with other options, even if name and size are the same; OUT says what made them,
# and no command takes that for a file of a dump.
mkdir dump
for n in 1 2; do dump_file "dump/Relu.n$n.$n.7.170000000000000$n" 3 '1 1 4 4 16' '1 4 4 4'; done
# The second channel of the first pixel: it has another place in the other format.
first=dump/Relu.n1.1.7.1700000000000001
printf '\x01\x3c' | dd of=$first bs=1 seek=$(($(stat -c %s $first) - 510)) conv=notrunc status=none
show msdump convert -d dump -out nchw -f NCHW
show msdump convert -d dump -out nhwc -f NHWC
cp -r nchw both
sed 's/"version":"[^"]*"/"version":"..."/' both/.msdump-convert.json
show msdump convert -d dump -out both -f NHWC --resume
diff -r -x .msdump-convert.json both nhwc && echo 'as if made anew'
cmp -s both/Relu.n1*.npy nchw/Relu.n1*.npy || echo 'unlike the other format'
show msdump convert -d dump -out both -f NHWC --resume
show msdump info both
show msdump ls -d both --csv
show msdump diff both nhwc -q
show msdump convert -d both -out again
rm both/.msdump-convert.json
show msdump convert -d dump -out both -f NHWC --resume
# Shards at once, with and without what one of them has begun.
rm -r both
for i in 1 2; do msdump convert -q -d dump -out both -f NHWC --shard $i/2 --resume & done
wait
show msdump merge both/part-* -out both
diff -r -x .msdump-convert.json -x 'part*' both nhwc && echo 'as one run'
rm both/part-*
for i in 1 2; do msdump convert -q -d dump -out both -f NHWC --shard $i/2 --resume & done
wait
show msdump merge both/part-* -out both --csv
