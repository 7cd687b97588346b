# How much may differ: by number, by metric, by a file of rules; what makes no sense is told before anything is read.
npy a.npy '<f4' '(4,)' "$(f32 1 2 3 4.04)"
npy b.npy '<f4' '(4,)' "$(f32 1 2 3 4)"
verdict() { msdump diff -q --json "$@" | jq -r '.rows[] | .verdict'; }
verdict a.npy b.npy
verdict a.npy b.npy --rtol 0.011
verdict a.npy b.npy --rtol 0.009
verdict a.npy b.npy --atol 0.05
verdict a.npy b.npy --atol 0.03
would_pass=$(msdump diff a.npy b.npy -q | sed -n 's/.*would pass *//p')
# shellcheck disable=SC2086  # two options on purpose
echo "$would_pass: $(verdict a.npy b.npy $would_pass)"
verdict a.npy b.npy --metric 'cosine>=0.99'
verdict a.npy b.npy --metric 'cosine>=0.99' --metric 'max_abs<=0.01'
show msdump diff a.npy b.npy --rtol nan
show msdump diff a.npy b.npy --atol=-1
show msdump diff a.npy b.npy --metric 'cosin>=0.99'
show msdump diff a.npy b.npy --metric 'cosine'
show msdump diff a.npy b.npy --metric 'cosine>=much'
scaled_net ref
scaled_net bad 2 0.25
printf '# by operator and tensor\n*Add* rtol=0.2\n*ReLU*:input:0 max_abs<=0.5\n' >some
printf 'type:Add rtol=0.2\ntype:ReLU cosine>=0.9\n' >all
show msdump diff bad ref --tolerances some
show msdump diff --no-recompute bad ref --tolerances all
printf '*Add* rtol=0.2\n*ReLU* rtoll=0.2\n' >broken
show msdump diff bad ref --tolerances broken
show msdump diff bad ref --tolerances missing
# One of two limits has to hold; a tensor that nobody wrote a rule for may be an oversight.
printf '*ReLU* max_abs<=0 or cosine>=0.9\n*Add* rtol=0.2\n' >either
show msdump diff --no-recompute -q bad ref --tolerances either --op '*ReLU*'
show msdump diff --no-recompute -q ref ref --tolerances either --require-rule
show msdump diff --no-recompute -q ref ref --tolerances all --require-rule --op '*ReLU*'
show msdump diff bad ref --require-rule
for level in any unexplained root; do
  msdump diff --no-recompute -q ref ref --tolerances either --require-rule --fail-on $level >/dev/null
  echo "--fail-on $level: exit $?"
done
# Neither a limit for all tensors makes up for it, nor does it hide a NaN.
npy nan.npy '<f4' '(4,)' "$(f32 1 2 3 nan)"
printf 'other rtol=0.2\n' >others
verdict a.npy b.npy --tolerances others --require-rule --metric 'cosine>=0.99'
verdict nan.npy b.npy --tolerances others --require-rule
verdict a.npy b.npy --metric 'max_abs<=0 or cosine>=0.99'
