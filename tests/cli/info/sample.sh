# The sample: dump files in device formats, one of them an overflow record.
cp -r "$TESTDATA/sample" dump
msdump info dump
echo "exit $?"
cd dump/rank_0/Net/0/0 || exit
msdump info -q Conv2D.*
msdump info -q Opdebug.*
