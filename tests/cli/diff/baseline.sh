# Accepted differences: written once, silent as long as they do not grow, told when they are gone.
scaled_net ref
scaled_net bad 2 0.25
scaled_net worse 2 0.5
quiet() { msdump diff --no-recompute -q --jsonl "$@" | jq -c '[.op_name, .io, .verdict, .accepted]' | grep -v same; echo "exit ${PIPESTATUS[0]}"; }
quiet bad ref --write-baseline accepted.json
jq -c 'keys' accepted.json
quiet bad ref --baseline accepted.json
msdump diff --no-recompute -q bad ref --baseline accepted.json --json | jq -c '.summary | [.accepted, .differ, .verdict]'
quiet worse ref --baseline accepted.json
show msdump diff --no-recompute worse ref --baseline accepted.json
show msdump diff --no-recompute ref ref --baseline accepted.json
msdump diff --no-recompute -q bad ref --exit-zero | head -n 1
echo "exit ${PIPESTATUS[0]}"
echo '{' >broken.json
show msdump diff --no-recompute bad ref --baseline broken.json
show msdump diff --no-recompute bad ref --baseline missing.json
show msdump diff --no-recompute -q bad ref --write-baseline missing/accepted.json
