# --explain: why an operator is or is not a root.
mul_net ref chain 0
mul_net wrong chain 1e-3 5=1.1
show msdump diff --no-recompute -q wrong ref --explain Mul-op5
show msdump diff --no-recompute -q wrong ref --explain 'Default/Mul-op3'
show msdump diff --no-recompute -q wrong ref --explain '*Mul-op8' --exit-zero
msdump diff --no-recompute -q wrong ref --explain Mul-op5 --json | jq -c '.explain[] | del(.inputs, .outputs), .inputs[], .outputs[], (.outputs[0].siblings | keys)'
msdump diff --no-recompute -q ref ref --json | jq -c .explain
show msdump diff --no-recompute -q wrong ref --explain Mul-op55
# By its name in the files, as ls prints it, and without its number.
msdump diff --no-recompute -q wrong ref --explain Default_Mul-op5 --json | jq -c '[.explain[] | .op_name]'
show msdump diff --no-recompute -q wrong ref --explain Mul
show msdump diff --no-recompute -q wrong ref --explain 'Mul-op?'
show msdump diff --no-recompute -q wrong ref --explain Mul-op5 --csv
show msdump diff -q wrong ref --explain Mul-op5 --profile msprobe
rm ref/rank_0/Net/0/0/Mul.Default_Mul-op6.*output* wrong/rank_0/Net/0/0/Mul.Default_Mul-op7.*input*
show msdump diff --no-recompute -q wrong ref --explain Mul-op6
show msdump diff --no-recompute -q wrong ref --explain Mul-op7
