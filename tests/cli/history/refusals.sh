# Documents that are none, histories that are cut, and git bisect run.
scaled_net ref
scaled_net bad 2 0.25
msdump diff --no-recompute bad ref --json -q >bad.json 2>/dev/null || true
msdump diff ref ref --json -q >good.json 2>/dev/null
show msdump history
show msdump history nights bad.json more
show msdump history nights bad.json --date 2026-13-01
show msdump history nights bad.json --date yesterday
show msdump history nights bad.json --date 2026-11-01T25:00:00Z
show msdump history nights --show --date 2026-11-01
show msdump history nights --show
show msdump history nights missing.json
show msdump history nights ref
show msdump history nights
head -c 400 bad.json >cut.json
show msdump history nights cut.json
echo '[1, 2]' >list.json
show msdump history nights list.json
{ printf '{"command":"diff","rows":['; head -c 100000 /dev/zero | tr '\0' '['; } >deep.json
show msdump history nights deep.json
msdump check ref --json -q >check.json 2>/dev/null || true
show msdump history nights check.json
test -e nights || echo 'nothing was written'
# A line that a full disk cut, and lines that are no nights.
show msdump history nights good.json --date 2026-11-01
truncate -s -40 nights/history.jsonl
show msdump history nights good.json --date 2026-11-02
printf 'no night\n{"schema":2}\n\xff\n' >>nights/history.jsonl
show msdump history nights - --date 2026-11-03 <bad.json
mkdir none && echo '[' >none/history.jsonl
show msdump history none --show
mkdir folder && mkdir folder/history.jsonl
show msdump history folder good.json
mkfifo pipe && mkdir piped && mv pipe piped/history.jsonl
show msdump history piped good.json
# A name that is no text for a terminal.
jq -c '.first_divergence[0].op_name = "a\u001b[31m\nb"' bad.json | msdump history odd --date 2026-11-01 | sed -n 2p
# git bisect run: 0, 1, and 125 where nothing was judged.
bisect() { msdump history steps --bisect "$@" >/dev/null 2>&1; echo "$?: $*"; }
bisect good.json
bisect bad.json
bisect cut.json
bisect missing.json
msdump diff nosuch ref --json -q >missing_dump.json 2>/dev/null || true
bisect missing_dump.json
msdump diff bad ref --json -q --op nosuch >nothing.json 2>/dev/null || true
bisect nothing.json
cp -r ref unreadable
truncate -s 20 unreadable/rank_0/Net/0/0/ReLU*output*
msdump diff unreadable ref --json -q >unreadable.json 2>/dev/null || true
bisect unreadable.json
bisect folder/history.jsonl
# Processes that append at once tear no line.
for i in 1 2 3 4; do
  (for _ in 1 2 3 4 5; do msdump history together bad.json --date 2026-11-0$i -q >/dev/null 2>&1 || true; done) &
done
wait
msdump history together --show --jsonl | jq -r .time | sort | uniq -c | tr -s ' '
