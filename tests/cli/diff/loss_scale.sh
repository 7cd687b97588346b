# Gradients of a scaled loss: the factor is named and divided out.
mul_net ref chain 0
mul_net scaled chain 1e-4 0=1024
show msdump diff --no-recompute scaled ref --op-type Mul --slot 0 --io output
msdump diff --no-recompute -q scaled ref --json | jq -c '.loss_scale, (.first_divergence | length)'
msdump diff --no-recompute -q ref ref --json | jq -c .loss_scale
# Without the inputs: what agrees once the scale is divided out is explained, what does not is not.
msdump diff --no-recompute -q scaled ref --io output --fail-on unexplained --json | jq -c '.summary.explained'
echo "exit ${PIPESTATUS[0]}"
mul_net wrong chain 1e-4 0=1024 8=1.3
msdump diff --no-recompute -q wrong ref --io output --slot 0 --fail-on unexplained --json | jq -c '[.rows[] | [.op_name, .explained]]'
echo "exit ${PIPESTATUS[0]}"

# Operators that apply the scale have no partner: the count of rows names them, and the side that has a scale.
one_more() { # DIR TYPE NUMBER
  npy "$1/rank_0/Net/0/0/$2.Expand_$2-op$3.$3.1.${3}0000.output.0.DefaultFormat.npy" '<f4' '(2,)' "$(f32 1 "$3")"
}
for number in 70 71 72 73 74 75 76; do one_more scaled Muls "$number"; done
for number in 77 78; do one_more scaled RealDiv "$number"; done
msdump diff --no-recompute --top 2 scaled ref 2>&1 | grep -E '^msdump|without a partner'
msdump diff --no-recompute -q --top 2 ref scaled | grep 'without a partner'
mul_net plain chain 1e-4
for number in 70 71 72 73 74 75; do one_more plain Muls "$number"; done
msdump diff --no-recompute -q --top 2 plain ref | grep 'without a partner'
one_more ref Sqrt 79
msdump diff --no-recompute -q --top 2 plain ref | grep 'without a partner'
true
