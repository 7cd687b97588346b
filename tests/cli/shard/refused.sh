# A set of parts that is not whole, or not of one run, is refused, and the part is named.
scaled_net dump
part() { msdump stats -d dump "${@:2}" -out "$1" -q; }
for i in 1 2 3; do part "p$i" --shard "$i/3"; done

show msdump merge p1 p3
show msdump merge p1 p2 p3 p2
head -c -1 p2 >short
show msdump merge p1 short p3
# "end 3 ", 40 digits and the end of the line.
head -c -47 p2 | sed 's/^version .*/version 0.0.1/' >old
printf 'end 3 %s\n' "$(sha1sum <old | cut -d ' ' -f 1)" >>old
show msdump merge p1 old p3
part other --shard 2/3 --exact
show msdump merge p1 other p3
part coarse --shard 2/4
show msdump merge p1 coarse p3
msdump convert -d dump -out arrays --shard 2/3 -q
show msdump merge p1 arrays/part-2-of-3 p3
show msdump merge dump/rank_0/graphs/*.ir
show msdump merge missing
show msdump merge
show msdump merge p1 p2 p3 --junit findings.xml
# The dump has changed.
dumped dump Mul.Default_Mul-op9 9 output.0 1
show msdump merge p1 p2 p3

echo 'options of a part'
show msdump stats -d dump --shard 0/3 -out p
show msdump stats -d dump --shard 4/3 -out p
show msdump stats -d dump --shard 1/3
show msdump stats -d dump --shard 1/3 -out p --json
show msdump stats -d dump --shard 1/3 -out p --verify
echo dump >list
msdump stats -d - --shard 1/3 -out p <list 2>&1
echo "[exit $?]"
show msdump convert -d dump --shard 1/3 -out p --dry-run
files . | grep -c '^./p$'

echo 'a part that is there'
show msdump stats -d dump --shard 1/3 -out p1 --resume
show msdump stats -d dump --shard 1/3 -out p1 --resume
show msdump stats -d dump --shard 1/3 -out p1 --resume --exact

echo 'another file in the place of a part'
truncate -s 4G large
# A sanitizer needs more than that for itself.
limit=4000000
bash -c "ulimit -v $limit; msdump --version || exit 1" >/dev/null 2>&1 || limit=unlimited
(ulimit -v "$limit" && show msdump stats -d dump --shard 1/3 -out large --resume)
stat -c '%s bytes' large
show msdump merge large
: >empty
show msdump stats -d dump --shard 1/3 -out empty --resume
rm large

echo 'a folder that a shard cannot read'
mkdir closed && cp -r dump/rank_0 closed && cp -r dump/rank_0 closed/rank_1 && chmod 000 closed/rank_1
drop() { if ((EUID == 0)); then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
chmod 777 .
show drop msdump stats -d closed --shard 1/2 -out c1
chmod 755 closed/rank_1
msdump stats -d closed --shard 2/2 -out c2 -q
show msdump merge c2 c1
show msdump merge c1 c2
