# The elements of tensors that are chosen by name, without the path of a file.
cp -r "$TESTDATA/sample" dump
show msdump info -d dump --op '*fc1-Dense/MatMul-op20' --values 0,:3
show msdump info -d dump --op '*MatMul-op20' --io output --values --json
msdump info dump --op '*BiasAdd-op13' --slot 1 --values --csv | head -1 | tr , '\n' | tail -1
# Nothing matches, an index that does not fit, no --values, and a folder without a name.
show msdump info -d dump --op nobody --values
show msdump info -d dump --op '*MatMul-op20' --io output --values 99
show msdump info -d dump --op '*MatMul-op20'
show msdump info dump --values
