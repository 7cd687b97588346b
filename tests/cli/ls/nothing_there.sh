# Why a list is empty or a path is refused.
mkdir empty unread
echo text >unread/notes
npy_file unread/a.npy '<f4' '(3,)' 12
: >unread/what
show msdump ls ''
echo empty >list
show msdump ls - - <list
show msdump ls empty
show msdump ls unread --jsonl
npy_file same.npy '<f4' '(3,)' 12
show msdump ls -0 --json same.npy
show msdump find-op a -0 --csv -d unread
dump=twice/rank_0/Net/0/0
mkdir -p $dump/copy none
cp same.npy $dump/Add.a.0.0.1700000000000001.output.0.ND.npy
cp same.npy $dump/copy/Add.a.0.0.1700000000000001.output.0.ND.npy
show msdump ls $dump -q --jsonl
show msdump ls $dump --csv
# A dump file without a tensor.
printf '\x02\0\0\0\0\0\0\0\x0a\0' >none/Add.a.1.2.1700000000000001
show msdump ls none
