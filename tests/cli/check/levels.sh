# What --fail-level makes of a finding: the exit code, and a failure or a remark in JUnit; what cannot be read is an error.
outcomes() {
  grep -o -e '<testsuites[^>]*' -e '<testcase name="[^"]*" classname="[^"]*"' -e '<failure message="[^"]*"' \
    -e '<error message="[^"]*"' -e '<system-out>.*' check.xml
}
# into_junit OPTION...: the exit code, and what the file says
into_junit() {
  local status=0
  msdump check -q --csv --junit check.xml "$@" >/dev/null 2>&1 || status=$?
  echo "== ${*: -2}: exit $status"
  outcomes
}
mul=Mul.Default_Mul-op1.0.0.1700000000000001.output.0.DefaultFormat.npy
npy "$mul" '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
npy Log.Default_Log-op2.0.0.1700000000000002.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\xc0\x7f\0\0\0\x40'
rules=(--rule none --rule 'too_large:max_gt=1.5,severity=note' --rule nan:severity=warning --rule unreadable)
for level in error warning note; do into_junit "${rules[@]}" --fail-level "$level"; done
into_junit "${rules[@]}" --op '*Mul*'
into_junit --first "${rules[@]}"
# What was the first counts as its own rule says, not as that of NaN.
mkdir inf
npy inf/Exp.Default_Exp-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x7f\0\0\0\x40'
into_junit inf --rule none --rule nan --rule inf:severity=note
into_junit inf --rule none --rule nan:severity=note --rule inf
rm -r inf
truncate -s -4 "$mul"
into_junit --rule none --rule unreadable
