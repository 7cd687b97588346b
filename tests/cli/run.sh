#!/usr/bin/env bash
# Runs command-line test cases: a case is GROUP/NAME.sh, a bash script that finds `msdump` on its PATH, with what it must
# print beside it: NAME.stdout and NAME.stderr (absent: nothing) and NAME.exit (absent: 0). It runs in an empty directory
# of its own with a bare environment (LC_ALL=C, HOME there, no terminal, nothing on stdin) and with prelude.bash loaded.
#
# A line of an expectation that begins with `glob:` is a bash pattern for one line; all other lines are literal.
#
#   MSDUMP=PATH tests/cli/run.sh [CASE...]    all cases by default; exit code 1 if one fails
#   MSDUMP=PATH tests/cli/run.sh --bless ...  writes what was printed as the expectation. A file with glob: lines that
#                                             still match is left alone. Read the diff before you commit it
#
# With MSDUMP_CHECK_DOCUMENTS=build/.../check_documents everything that a case prints with --json and --jsonl has to match
# docs/schema, which has no key that is not declared. A case about the output itself (a full disk, a closed stdout, few open files)
# has the line "# documents: not checked".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bless=false
if [[ ${1:-} == --bless ]]; then
  bless=true
  shift
fi
cases=("$@")
((${#cases[@]} > 0)) || cases=("$here"/*/*.sh)
: "${MSDUMP:?set MSDUMP to the program to test}"
msdump=$(realpath "$MSDUMP")

# What a case may see of the outside: how sanitizers are set up, where the conformance data is, and whether pages are to be written.
passed_on=()
for name in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS LSAN_OPTIONS MSDUMP_CORPUS MSDUMP_WRITE_DOCS; do
  [[ -z ${!name:-} ]] || passed_on+=("$name=${!name}")
done

work=$(mktemp -d "${TMPDIR:-/tmp}/msdump-cli.XXXXXX")
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/plain" "$work/documents"
ln -s "$msdump" "$work/plain/msdump"
validator=${MSDUMP_CHECK_DOCUMENTS:-}
if [[ -z $validator ]]; then
  ln -s "$msdump" "$work/bin/msdump"
else
  cat >"$work/bin/msdump" <<EOF
#!/bin/sh
form=
for word; do
  case \$word in
    --json | -json) form=json ;;
    --jsonl | -jsonl) form=jsonl ;;
    --) break ;;
  esac
done
case \$form:\$1 in
  :* | jsonl:merge) exec '$msdump' "\$@" ;;
esac
printed=\$(mktemp '$work/documents/XXXXXX')
'$msdump' "\$@" >"\$printed"
status=\$?
cat "\$printed"
mv "\$printed" "\$printed.\$1.\$form"
exit \$status
EOF
  chmod +x "$work/bin/msdump"
fi

# matches EXPECTED ACTUAL: line by line, `glob:` lines as patterns.
matches() {
  cmp -s "$1" "$2" && return 0
  grep -q '^glob:' "$1" || return 1
  local patterns lines i
  mapfile -t patterns <"$1"
  mapfile -t lines <"$2"
  ((${#patterns[@]} == ${#lines[@]})) || return 1
  for i in "${!patterns[@]}"; do
    if [[ ${patterns[i]} == glob:* ]]; then
      # shellcheck disable=SC2053  # a pattern on purpose
      [[ ${lines[i]} == ${patterns[i]#glob:} ]] || return 1
    else
      [[ ${lines[i]} == "${patterns[i]}" ]] || return 1
    fi
  done
}

# check BASE SUFFIX ACTUAL DEFAULT: compares one expectation, or blesses it. DEFAULT is the content of an absent file.
check() {
  local expected=$1.$2 actual=$3 default=$4 wanted=$work/wanted
  if [[ -e $expected ]]; then cp "$expected" "$wanted"; else printf '%s' "$default" >"$wanted"; fi
  matches "$wanted" "$actual" && return 0
  if $bless; then
    if [[ $(<"$actual") == "${default%$'\n'}" ]]; then rm -f "$expected"; else cp "$actual" "$expected"; fi
    echo "blessed ${expected#"$here"/}"
    return 0
  fi
  echo "FAILED ${expected#"$here"/} (- expected, + printed):"
  diff -u "$wanted" "$actual" | sed '1,2d; s/^/  /' || true
  return 1
}

check_documents() {
  [[ -n $validator ]] || return 0
  local documents status=0
  mapfile -t documents < <(find "$work/documents" -name '*.json*')
  if ((${#documents[@]} > 0)); then "$validator" "$here/../../docs/schema" "${documents[@]}" || status=1; fi
  find "$work/documents" -type f -delete
  return "$status"
}

run_case() {
  local script=$1 base=${1%.sh} scratch=$work/scratch status=0 bin=$work/bin
  if grep -qx '# documents: not checked' "$script"; then bin=$work/plain; fi
  mkdir "$scratch"
  (
    cd "$scratch"
    exec env -i PATH="$bin:$PATH" LC_ALL=C HOME="$scratch" TERM=dumb TMPDIR="$work" BASH_ENV="$here/prelude.bash" \
      TESTDATA="$here/../../testdata" "${passed_on[@]}" bash "$script"
  ) >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
  echo "$status" >"$work/exit"
  local failed=0
  check "$base" stdout "$work/stdout" '' || failed=1
  check "$base" stderr "$work/stderr" '' || failed=1
  check "$base" exit "$work/exit" $'0\n' || failed=1
  check_documents || failed=1
  chmod -R u+rwX "$scratch"
  rm -rf "$scratch"
  return "$failed"
}

failures=0
for script in "${cases[@]}"; do
  [[ -f $script ]] || { echo "run.sh: no case $script" >&2; exit 2; }
  run_case "$(realpath "$script")" || failures=$((failures + 1))
done
if ((failures > 0)); then
  echo "$failures of ${#cases[@]} cases failed; look, then MSDUMP=$MSDUMP $0 --bless CASE if the new output is right"
  exit 1
fi
echo "${#cases[@]} cases passed"
