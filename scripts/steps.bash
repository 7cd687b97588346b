# Shared by the scripts beside it; sourced, never run. One line a step on stdout, the step's own output in a log file
# under build/logs, which is shown only when the step fails.

# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=${MSDUMP_BUILD_JOBS:-$(nproc)}

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
  step "building preset $preset" cmake --build "$root/build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}
