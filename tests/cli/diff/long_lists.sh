# A table has the rows that answer the question, and counts the others; a name that --map does not find is named.
mkdir a b
npy_file one.npy '<f4' '(3,)' 12
npy zero.npy '<f4' '(3,)' '\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0'
tee a/t{100..400}.npy <one.npy >/dev/null
tee b/t{100..400}.npy <zero.npy >/dev/null
msdump diff a b >table 2>err
echo "exit $?"
grep -c 't[1-4][0-9][0-9]' table
cat err
msdump diff a b --all 2>&1 >/dev/null | cat
msdump diff a b --all | grep -c 't[1-4][0-9][0-9]'
tail -4 table
msdump diff -q a b --rows roots --json | jq -c '[.rows[] | .op_name, .explained]'
msdump diff -q a b --rows unexplained | grep -c '^differ'
msdump diff -q a b --rows differ | grep -c downstream
npy huge.npy '<f4' '(3,)' '\0\0\x80\x42\0\0\x80\x42\0\0\x80\x42'
cp huge.npy a/t250.npy
msdump diff -q a b --sort size --rows differ --top 2 --jsonl | jq -c .op_name
msdump diff -q a b --top 3 | grep -c '^differ'
printf 't100,t101\nnobody,t102\n' >map.csv
msdump diff a b --map map.csv 2>&1 >/dev/null | cat
