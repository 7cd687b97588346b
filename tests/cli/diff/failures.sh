# Machine output is a document whatever fails, and each failure is in it once, with the path that was typed.
document() { jq -c '[.dumps, (.rows | length), .summary.failed, .summary.verdict, [.failures[].path]]'; }
scaled_net ref
scaled_net cut
printf 'no array' >broken.npy
msdump diff -q broken.npy broken.npy --json | document
msdump diff -q ref broken.npy --json | document
show msdump diff ref ref --op Default/Mull-op0 --csv
msdump diff -q ref ref --op nosuch --json | document
place=rank_0/Net/0/0
truncate -s 136 cut/$place/Add.*.output.0.*
msdump diff -q cut cut --json | document
msdump diff -q ref cut --json | document
show msdump diff cut cut
printf 'no IR' >cut.ir
show msdump diff ref ref --ir cut.ir
# A baseline stays as it is while a tensor cannot be read.
echo 'as it was' >accepted.json
show msdump diff cut ref --write-baseline accepted.json
cat accepted.json
