# A reader that has gone does not turn "they differ" into "equal": diff and its like exit with their answer, or with 141 when
# the reader went before it was known. Other commands end quietly.
set -o pipefail
mkdir a b
for n in $(seq 1 900); do
  npy "a/t$n.npy" '<f4' '(1,)' '\0\0\x80\x3f'
  npy "b/t$n.npy" '<f4' '(1,)' '\0\0\x80\x40'
done
code_of() {
  "$@" 2>/dev/null | true
  printf '%s: %s\n' "$*" "${PIPESTATUS[0]}"
}
# All that is printed goes out at the end, when the answer is known.
mkdir one other
cp a/t1.npy one && cp b/t1.npy other
code_of msdump diff one one --json
code_of msdump diff one other --json
code_of msdump check one
# 64 KiB and more, so that the reader is missed before the end.
ends_with() {
  { sleep 0.2 && msdump "${@:2}" 2>/dev/null; } | true
  local code=${PIPESTATUS[0]}
  [[ " $1 " != *" $code "* ]] || code=$1
  printf '%s: %s\n' "${*:2}" "$code"
}
ends_with '1 141' diff a b --all --csv
ends_with '0 141' diff a a --all --csv
ends_with '0' ls -d a --json
ends_with '0' stats -d a --json
