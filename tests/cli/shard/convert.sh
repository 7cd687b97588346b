# Shards of convert write their arrays; merge adds mapping.csv, rows and the exit code of one run.
mkdir dump
for i in 1 2 3 4 5; do dump_file "dump/Conv2D.conv$i.0.0.170000000000000$i" 3 '1 1 2 2 16' '1 3 2 2'; done
long=$(printf 'x%.0s' {1..215})
dump_file "dump/Conv2D.$long.0.0.1700000000000007" 3 '1 1 2 2 16' '1 3 2 2'
dump_file dump/Conv2D.cut.0.0.1700000000000006 3 '1 1 2 2 16' '1 3 2 2' 100
echo note >dump/note.log

msdump convert -d dump -out out -f NCHW --json >whole.json 2>whole.err
echo "[exit $?]"
mv out whole
for i in 1 2 3; do show msdump convert -d dump -out out -f NCHW --shard "$i/3"; done
show msdump merge out/part-*-of-3 -out out --csv
msdump merge out/part-*-of-3 -out out --json >merged.json 2>merged.err
cmp whole.json merged.json
cmp whole.err merged.err
rm out/part-*
diff -r whole out && wc -l <out/mapping.csv

echo 'names that inputs may share'
mkdir -p names
npy 'names/a.npy' '<E2' '(1,)' '\1\0'
dump_file names/Cast.b.0.0.1700000000000001 3 '1 1 2 2 16' '1 3 2 2'
dump_file names/Cast.c.0.0.1700000000000002 3 '1 1 2 2 16' '1 3 2 2'
msdump convert -d names -out whole2 --naming mindspore -t msnpy -q
for i in 1 2; do msdump convert -d names -out out2 --naming mindspore -t msnpy --shard "$i/2" -q; done
show msdump merge out2/part-*-of-2 -out out2
rm out2/part-*
diff -r whole2 out2 && files out2
