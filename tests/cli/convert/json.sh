# One document: rows, a summary, and each input that failed, with the code and the place scripts rely on.
mkdir dump
dump_file dump/Relu.good.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
dump_file dump/Relu.cut.2.7.1700000000000002 3 '1 1 2 2 16' '1 5 2 2' 100
echo text >dump/notes.txt
status=0
msdump convert -q -d dump -out npy -f NCHW --json 2>/dev/null || status=$?
printf '\nexit %d\n' "$status"
msdump convert -q -d dump -out npy -f NCHW --json 2>/dev/null | tail -c 1 | od -An -c
