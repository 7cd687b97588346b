# A table ends after as many rows as a screen holds, and says how to see the others; a name that --map does not find is named.
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
printf 't100,t101\nnobody,t102\n' >map.csv
msdump diff a b --map map.csv 2>&1 >/dev/null | cat
