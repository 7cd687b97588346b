# The main job: a small dump in every kind of format, one of them without a known inverse.
cp -r "$TESTDATA/sample" dump
msdump convert -d dump -out npy -f NCHW
echo "exit $?"
files npy
cat npy/rank_0/Net/0/0/Opdebug.*.json
