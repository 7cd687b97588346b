# Shared by the scripts beside it; sourced, never run. One line a step on stdout, the step's own output in a log file
# under build/logs, which is shown only when the step fails.

# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=${MSDUMP_BUILD_JOBS:-$(nproc)}

# The tests write some hundred thousand small files, for which a disk needs minutes: they are in memory where there is room.
use_memory_for_scratch() {
  local room free
  [[ -z ${TMPDIR:-} && -w /dev/shm ]] || return 0
  room=$(df --output=avail /dev/shm | tail -n 1)
  free=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
  if ((room < 2 << 20 || free < 6 << 20)); then return 0; fi  # in KiB
  TMPDIR=$(mktemp -d /dev/shm/msdump-tests-XXXXXX)
  chmod 755 "$TMPDIR"  # tests of root give up their rights
  export TMPDIR
  trap 'chmod -R u+rwX "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
}

# step WHAT COMMAND...: prints "WHAT ... ok (3 s)", or the end of the log and fails.
step() {
  local what=$1 log started=$SECONDS
  shift
  mkdir -p "$logs"
  log=$logs/$(tr -cs 'A-Za-z0-9' '-' <<<"$what" | sed 's/-*$//').log
  printf '%s ... ' "$what"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'ok (%d s)\n' "$((SECONDS - started))"
    return 0
  fi
  printf 'FAILED (%d s); from %s:\n' "$((SECONDS - started))" "${log#"$root"/}"
  {
    grep -m 12 'error:' "$log" && echo ...
    tail -n 60 "$log"
  } | sed 's/^/  | /'
  return 1
}

# Of the presets in CMakePresets.json.
configure_preset() { step "configuring preset $1" cmake -S "$root" --preset "$@"; }

# compile_preset NAME [TARGET...]
compile_preset() {
  local preset=$1
  shift
  # ccache tells languages apart, in which compilers write messages: one for all scripts.
  LC_ALL=C step "building preset $preset" cmake --build "$root/build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# count_cases PRESET: prints how many test cases of the last ctest run passed, failed and were skipped. A Catch2 program is one
# test of ctest and says how many cases it ran; one that ended without saying so is one failure.
count_cases() {
  awk '
    /^Unable to find executable/ { absent = 1 }  # ctest writes that such a test passed
    /^[0-9]+\/[0-9]+ Test: / { ran = unmet = summed = 0; bad = absent; absent = 0 }
    /^All tests passed \(.* in [0-9]+ test cases?\)/ { summed = 1; ran = $(NF - 2) }
    /^test cases: / {
      summed = 1
      for (i = 3; i <= NF; i++) { if ($i == "passed") ran = $(i - 1); if ($i ~ /^failed/) bad = $(i - 1) }
    }
    /skipped: no conformance data/ { unmet++ }
    /^Test time = / { over = 1 }
    over && /^Test / && !/^Test time/ {
      over = 0
      if (!/^Test Passed/ && !bad) bad = 1
      if (!summed && !bad) ran = 1
      passed += ran - unmet; failed += bad; skipped += unmet
    }
    END { print passed + 0, failed + 0, skipped + 0 }' "$root/build/$1/Testing/Temporary/LastTest.log"
}
