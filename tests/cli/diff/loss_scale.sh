# Gradients of a scaled loss: the factor is named and divided out.
mul_net ref chain 0
mul_net scaled chain 1e-4 0=1024
show msdump diff scaled ref --op-type Mul --slot 0 --io output
msdump diff -q scaled ref --json | jq -c '.loss_scale, (.first_divergence | length)'
msdump diff -q ref ref --json | jq -c .loss_scale
