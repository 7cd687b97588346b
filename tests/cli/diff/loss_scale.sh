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
