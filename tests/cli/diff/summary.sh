# --summary: the answer in Markdown, for the page of a CI job.
scaled_net ref
scaled_net bad 2 0.25
summary() {
  local code=0
  msdump "$@" -q >/dev/null 2>&1 || code=$?
  echo "[exit $code] $*"
}
summary diff --no-recompute bad ref --summary diff.md
cat diff.md
# The verdicts; of checkpoints and of two files; more rows than ten.
head_of() { summary "$@" --summary s.md && head -n 3 s.md | tr '\n' ' ' && echo; }
head_of diff ref ref
head_of diff --no-recompute bad ref --exit-zero
mul_net long chain 0
mul_net rounded chain 2e-3
mul_net wrong chain 2e-3 5=1.5
head_of diff --no-recompute rounded long --fail-on root
head_of diff --no-recompute wrong long --fail-on root
grep -c '^| .*`Default/Mul' s.md
tail -n 4 s.md
two_floats ones.npy "$(f32 1 1)"
two_floats zeros.npy
head_of diff ones.npy zeros.npy
checkpoint w/p.safetensors layers.0.weight 2 '1 2' layers.1.weight 2 '3 4'
checkpoint v/p.safetensors layers.0.weight 2 '1 2' layers.1.weight 2 '3 5'
head_of diff v w
# Where nothing is answered.
head_of diff bad ref --op nosuch
mkdir none && echo '{}' >none/notes.json
head_of diff none ref
cp -r bad cut
truncate -s 20 cut/rank_0/Net/0/0/ReLU*output*
head_of diff --no-recompute cut ref
tail -n 1 s.md
# A comparison that cannot begin.
head_of diff nosuch ref
tail -n 1 s.md
# Names are no markup.
dumped odd_a $'Add.Default_|`<b>@all\n# x-op0' 1 output.0 1
dumped odd_b $'Add.Default_|`<b>@all\n# x-op0' 1 output.0 2
summary diff odd_a odd_b --summary s.md
grep -v '^$' s.md
# Of check.
cp -r ref nan
dumped nan Log.Default_Log-op0 4 input.0 1 2
dumped nan Log.Default_Log-op0 4 output.0 1 nan
summary check --no-recompute nan --summary check.md
cat check.md
head_of check --no-recompute ref
head_of check nan --op nosuch
for i in 1 2; do msdump diff --no-recompute bad ref --shard "$i/2" -out "part$i" -q; done
summary merge part1 part2 --summary merged.md
cmp diff.md merged.md && echo 'the same: merge'
# A file is replaced; the one that the steps of a job share is appended to, by whatever name.
summary diff --no-recompute bad ref --summary diff.md
grep -c '^###' diff.md
export GITHUB_STEP_SUMMARY=$PWD/step
echo 'a step before' >step
msdump check --no-recompute nan --summary "$GITHUB_STEP_SUMMARY" -q >/dev/null || echo "exit $?"
summary diff --no-recompute bad ref --summary step
summary diff --no-recompute bad ref --summary diff.md
grep -n '^###\|^a step' step
grep -c '^###' diff.md
show msdump diff bad ref --summary -
show msdump check nan --summary -
show msdump check --trend nan --summary s.md
{ msdump diff --no-recompute bad ref --summary nowhere/s.md -q >/dev/null || echo "exit $?"; } 2>&1
GITHUB_STEP_SUMMARY=nowhere/s.md
{ msdump diff --no-recompute bad ref --summary nowhere/s.md -q >/dev/null || echo "exit $?"; } 2>&1
