# Findings of one of two dumps below one path name it, also those about a record of the device. Each has its first overflow.
mkdir runs
cp -r "$TESTDATA/sample" runs/good
cp -r "$TESTDATA/sample-wrong" runs/bad
chmod -R u+w runs
# The operator is joined by its task: the other dump has one with the same numbers.
rm runs/good/rank_0/Net/0/0/Conv2D*
show msdump check runs
msdump check -q runs --json | jq -c '.rows[] | [.kind, .dump, .path]'
