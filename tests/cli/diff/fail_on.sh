# --fail-on: what exit code 1 is for.
mul_net ref chain 0
mul_net rounded chain 2e-3
mul_net wrong chain 2e-3 5=1.5
for what in any unexplained root; do
  for dump in rounded wrong ref; do
    msdump diff --no-recompute "$dump" ref --fail-on "$what" --jsonl -q >/dev/null && code=0 || code=$?
    echo "$what: $dump: exit $code"
  done
done
msdump diff --no-recompute -q wrong ref --write-baseline accepted.json >/dev/null || true
show msdump diff --no-recompute wrong ref --baseline accepted.json --fail-on root
show msdump diff --no-recompute wrong ref --baseline accepted.json --fail-on unexplained
show msdump diff --no-recompute wrong ref --fail-on roots
