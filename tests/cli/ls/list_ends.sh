# The last path of a list needs no end of its line, however short it is; empty lines are none.
mkdir a
npy_file a/x.npy '<f4' '(3,)' 12
npy_file y.npy '<f4' '(3,)' 12
printf '\ny.npy\n\na' | msdump ls - --jsonl -q | jq -r .op_name
printf 'y.npy\0a\0' | msdump ls - --jsonl -q | jq -r .op_name
printf '\n\n' >empty
show msdump ls - <empty
show msdump ls - </dev/null
