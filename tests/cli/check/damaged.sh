# What cannot be read is a row and a failure, and the others are judged all the same.
file() { echo "rank_0/Net/0/0/Mul.Default_Mul-op$1.0.0.170000000000000$1.output.0.DefaultFormat.npy"; }
mkdir -p rank_0/Net/0/0
two_floats "$(file 1)" '\0\0\xc0\x7f\0\0\0\x40'
two_floats "$(file 2)"
truncate -s -4 "$(file 2)"
touch -d 2030-01-01 "$(file 2)"
show msdump check
msdump check --json -q 2>/dev/null | jq -c '.failures[], (.rows[] | [.kind, .severity, .path, .op_name, .message])'
mkdir empty
show msdump check empty
show msdump check rank_0 --op nothing
show msdump check missing
# Who asks for a document gets one, also when nothing is selected.
show msdump check --rank 7 --json | sed 's/"[a-z_]*":0,//g'
