# Accepted differences: written once, silent as long as they do not grow, told when they are gone.
scaled_net ref
scaled_net bad 2 0.25
scaled_net worse 2 0.5
quiet() { msdump diff -q --jsonl "$@" | jq -c '[.op_name, .io, .verdict, .accepted]' | grep -v same; echo "exit ${PIPESTATUS[0]}"; }
quiet bad ref --write-baseline accepted.json
jq -c 'keys' accepted.json
quiet bad ref --baseline accepted.json
msdump diff -q bad ref --baseline accepted.json --json | jq -c '.summary | [.accepted, .differ, .verdict]'
quiet worse ref --baseline accepted.json
show msdump diff worse ref --baseline accepted.json
show msdump diff ref ref --baseline accepted.json
msdump diff -q bad ref --exit-zero | head -n 1
echo "exit ${PIPESTATUS[0]}"
echo '{' >broken.json
show msdump diff bad ref --baseline broken.json
show msdump diff bad ref --baseline missing.json
show msdump diff -q bad ref --write-baseline missing/accepted.json
