# A month of nights, as the job of docs/ci.md runs them: an intended change that is accepted, a drift, and a break.
# shellcheck source=tests/cli/history/series.bash
. "$TESTDATA/../tests/cli/history/series.bash"

awk '/^```sh nightly.sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$TESTDATA/../docs/ci.md" >nightly.sh
dump reference 0
for ((night = 1; night <= 30; night++)); do
  run_of_night candidate "$night"
  date=$(printf '2026-11-%02d' "$night")
  NIGHT=$date sh nightly.sh candidate reference >log 2>&1 && code=0 || code=$?
  # The change is reviewed and accepted the next morning. The drift is a root in a few nights, and seen in the others.
  if [[ $night == 8 ]]; then msdump diff candidate reference --write-baseline accepted.json -q >/dev/null 2>&1 || true; fi
  printf '%s %s %s\n' "$date" "$code" "$(grep -o '<testsuites.*errors="[0-9]*"' diff.xml 2>/dev/null)"
  grep '^  root\|^  moved\|^red since' log || true
done
msdump history nights --show --jsonl | jq -r .outcome | cut -c 1 | tr -d '\n'
echo
head -n 5 diff.md
