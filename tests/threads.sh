#!/usr/bin/env bash
# threads.sh MSDUMP: commands of the program with -j4 and with -j1 print the same and end with the same exit code. Under the
# thread sanitizer, each of them stops at a data race.
set -uo pipefail
msdump=$1
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../testdata" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/msdump-threads.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

# same WHAT ARGUMENT...: @ in an argument is a folder for what the command writes.
same() {
  local what=$1 j status
  shift
  for j in 1 4; do
    mkdir -p "$work/$what-$j"
    (cd "$work/$what-$j" && "$msdump" "$@" -j"$j" >stdout 2>stderr </dev/null; printf "exit code %d\n" $? >"exit")
    status=$(<"$work/$what-$j/exit")
    if grep -q 'ThreadSanitizer' "$work/$what-$j/stderr" || [[ ! $status =~ ^"exit code "[0-3]$ ]]; then
      echo "FAILED: msdump $* -j$j: $status"
      cat "$work/$what-$j/stderr"
      failed=1
    fi
  done
  diff -r "$work/$what-1" "$work/$what-4" || failed=1
}

same convert convert -d "$data/sample" -out converted -f NCHW
same stats stats -d "$data/sample"
same diff diff "$data/sample-wrong" "$data/sample"
same check check "$data/sample-wrong"
same info info "$data/sample"
exit "$failed"
