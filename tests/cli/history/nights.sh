# A line a night: since when it is red, and what moved first.
mul_net ref chain 0
mul_net rounded chain 2e-4
mul_net wrong chain 2e-4 5=1.5
# night DATE CANDIDATE [OPTION...]
night() {
  local date=$1
  shift
  msdump diff --no-recompute "$1" ref --fail-on root --json -q "${@:2}" 2>/dev/null | msdump history nights --date "$date" 2>&1
  echo "[exit ${PIPESTATUS[1]}]"
}
night 2026-11-01 rounded
night 2026-11-02 rounded >/dev/null
night 2026-11-03 wrong
night 2026-11-04T02:00:00Z wrong
# The dump of a night is missing, or one of its files is cut.
night 2026-11-05 nosuch | head -n 3
cp -r rounded cut
truncate -s 20 cut/rank_0/Net/0/0/Mul.Default_Mul-op3.*.output*
night 2026-11-06 cut | head -n 3
night 2026-11-07 rounded | head -n 2
tail -n 1 nights/history.jsonl
msdump history nights --show --csv | cut -d, -f 1,3-12
msdump history nights --show --json | jq -c '.summary'
msdump history nights --show --jsonl | jq -c '[.time, .outcome, .root.line, .scopes[0].scope]'
# --exit-zero changes only the exit code of diff; the exit code of the history is that without it.
night 2026-11-08 wrong --exit-zero | tail -n 1
night 2026-11-09 wrong --op nosuch | tail -n 1
# Without --date the clock, in UTC.
msdump diff ref ref --json -q 2>/dev/null | msdump history clock -q >/dev/null
grep -cE '^\{"schema":1,"time":"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"' clock/history.jsonl
# More nights than the table shows.
for ((day = 10; day < 18; day++)); do night "2026-12-$day" rounded >/dev/null; done
show msdump history nights --show
