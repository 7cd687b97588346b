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
# A baseline of other dumps is refused: another version of the writer, another dtype, other operators of the reference.
jq -c '.made_of | .version |= "V" | [paths(scalars)] | length' accepted.json
jq -c '.made_of.reference' accepted.json
cp -r bad newer
echo '{"ms_version":"2.11.0"}' >newer/rank_0/.dump_metadata/config.json
show msdump diff --no-recompute newer ref --baseline accepted.json
show msdump diff --no-recompute newer ref --baseline accepted.json --baseline-stale use
cp -r ref other
dumped other Sigmoid.Default_Sigmoid-op0 4 output.0 1 2
{ msdump diff --no-recompute -q bad other --baseline accepted.json --junit stale.xml || echo "exit $?"; } 2>&1
grep -o '<testsuites.*\|<error message="[^"]*"' stale.xml
# The settings that the dump was made with, in it or beside it, but for the folder that it was written to.
for dump in told/bad told/ref; do mkdir -p "$dump" && cp -r "${dump#told/}/." "$dump"; done
settings() { echo "{\"common_dump_settings\": {\"dump_mode\": $2, \"path\": \"/tmp/$3\", \"kernels\": [\"a\"]}}" >"$1"; }
settings told/data_dump.json 0 monday
msdump diff --no-recompute -q told/bad told/ref --write-baseline told.json >/dev/null || echo "exit $?"
jq -c '.made_of | [.candidate, .reference] | map(.configuration | sub(" .*"; " DIGEST"))' told.json
settings told/data_dump.json 0 tuesday
msdump diff --no-recompute -q told/bad told/ref --baseline told.json >/dev/null 2>&1; echo "another folder: exit $?"
settings told/data_dump.json 1 tuesday
{ msdump diff --no-recompute -q told/bad told/ref --baseline told.json || echo "exit $?"; } 2>&1 | sed 's/json [0-9a-f]*/json DIGEST/g'
echo '{"model_type": "gpt2"}' >told/config.json && rm told/data_dump.json
msdump diff --no-recompute -q told/bad told/ref --baseline told.json >/dev/null 2>&1; echo "not known: exit $?"
# Operators of the candidate are what is tested. A part of the dump is none of another graph.
cp -r bad more
dumped more Sigmoid.Default_Sigmoid-op0 4 output.0 1 2
quiet more ref --baseline accepted.json
quiet bad ref --op '*ReLU*' --baseline accepted.json
# One without a word of what it is made of, as versions before wrote it.
jq 'del(.made_of)' accepted.json >old.json
quiet newer ref --baseline old.json
jq '.made_of.candidate.ranks = "two"' accepted.json >odd.json
show msdump diff --no-recompute -q bad ref --baseline odd.json
show msdump diff --no-recompute -q bad ref --baseline-stale use
# What is accepted explains nothing behind it: the seventh product is new.
mul_net chain-ref chain 0
mul_net once chain 1e-6 3=1.1
mul_net twice chain 1e-6 3=1.1 7=1.3
msdump diff --no-recompute -q once chain-ref --write-baseline third.json >/dev/null || echo "exit $?"
for run in once twice; do
  msdump diff --no-recompute -q $run chain-ref --baseline third.json --fail-on root --json >$run.json && code=0 || code=$?
  jq -c "[$code, (.first_divergence[] | .op_name, .rule), (.rows[] | select(.op_name | test(\"op(4|9)$\")) | select(.io == \"output\") | .accepted, .explained)]" $run.json
done
