mkdir dump
show env MSDUMP_JOBS=many msdump convert -d dump -out out
show env MSDUMP_JOBS=0 msdump convert -d dump -out out
show env MSDUMP_DUMP=nowhere msdump convert -out out
MSDUMP_CPU=abacus msdump convert --list-dtypes 2>error
echo "unknown CPU target: $?"
grep -c '^msdump: error: MSDUMP_CPU: ' error
