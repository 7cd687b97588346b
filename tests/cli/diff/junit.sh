# Differences as JUnit XML: a case for each layer and kind of tensor. A failure is in it if the exit code is 1 and only then, an
# error if it is 2 or 3.
scaled_net ref
scaled_net bad 2 0.25
msdump diff --no-recompute bad ref --junit diff.xml -q >/dev/null || echo "exit $?"
cat diff.xml
# outcome [OPTION...]: the exit code, and the counts in the head of the file.
outcome() {
  local code=0
  rm -f diff.xml
  msdump diff --no-recompute "$@" --junit diff.xml -q >/dev/null 2>&1 || code=$?
  echo "exit $code: ${*:3} $(grep -o '<testsuites.*' diff.xml)"
}
cases() { grep -o '<testcase.*\|<failure.*\|<error.*\|<system-out>.*' diff.xml | sed 's/^<testcase/  &/; s/^<[fse]/    &/'; }
outcome ref ref
for level in any unexplained root; do outcome bad ref --fail-on "$level"; done
cases
outcome bad ref --exit-zero
cases
# What is accepted does not fail; what has grown does.
msdump diff --no-recompute -q bad ref --write-baseline accepted.json >/dev/null || true
outcome bad ref --baseline accepted.json --fail-on unexplained
cases
scaled_net worse 2 0.5
outcome worse ref --baseline accepted.json
# Rounding that --fail-on root lets pass, and a root in it.
mul_net long chain 0
mul_net rounded chain 2e-3
mul_net wrong chain 2e-3 5=1.5
for level in any unexplained root; do
  for dump in rounded wrong; do outcome "$dump" long --fail-on "$level"; done
done
# Several roots are in one layer here; without one, any difference of what no model judges.
cases | cut -c 1-200
# Beside a root, what no model judges and rounding may make: it passes with --fail-on root, and fails with unexplained.
for dump in chosen_ref chosen; do
  mul_net "$dump" chain "$([[ $dump == chosen ]] && echo 1e-4 || echo 0)"
  dumped "$dump" TopK.Default_TopK-op0 30 input.0 "$([[ $dump == chosen ]] && echo 1.00001 || echo 1)" 2 3 4
  dumped "$dump" TopK.Default_TopK-op0 30 output.0 4 "$([[ $dump == chosen ]] && echo 2 || echo 3)"
  dumped "$dump" Log.Default_Log-op0 31 input.0 1 2
  dumped "$dump" Log.Default_Log-op0 31 output.0 0 "$([[ $dump == chosen ]] && echo nan || echo 0.7)"
done
for level in root unexplained; do
  outcome chosen chosen_ref --fail-on "$level"
  cases | grep -A 1 TopK.*output | cut -c 1-100
done
two_floats ones.npy "$(f32 1 1)"
two_floats zeros.npy
npy other.npy '<f4' '(3,)' '\0\0\0\0\0\0\0\0\0\0\0\0'
outcome ones.npy zeros.npy --fail-on root
cases
outcome other.npy zeros.npy
checkpoint w/p.safetensors layers.0.weight 2 '1 2' layers.1.weight 2 '3 4'
checkpoint v/p.safetensors layers.0.weight 2 '1 2' layers.1.weight 2 '3 5'
outcome v w --fail-on root
cases
# Nothing selected, nothing there, nothing compared, an input that cannot be read.
outcome bad ref --op nosuch
cases
mkdir none && echo '{}' >none/notes.json
outcome none ref
cases
outcome v ref
cases
cp -r bad cut
truncate -s 20 cut/rank_0/Net/0/0/ReLU*output*
outcome cut ref
cases | cut -c 1-200
# A comparison that cannot begin: the file of the night before does not stay.
outcome nosuch ref
cases
outcome bad ref --baseline bad
cases | sed 's/baseline is a.*/.../'
show msdump diff bad ref --junit -
{ msdump diff bad ref --junit nowhere/diff.xml --no-recompute -q >/dev/null || echo "exit $?"; } 2>&1
show msdump diff bad ref --junit diff.xml --profile msprobe
# Names are not markup.
dumped odd_a 'Add.Default_<a>&"b"-op0' 1 output.0 1
dumped odd_b 'Add.Default_<a>&"b"-op0' 1 output.0 2
outcome odd_a odd_b
cases
# merge writes the same file.
for i in 1 2; do msdump diff --no-recompute bad ref --shard "$i/2" -out "part$i" -q; done
msdump merge part1 part2 --junit merged.xml -q >/dev/null
outcome bad ref
cmp diff.xml merged.xml && echo 'the same: merge'
