# Arguments of calls that are not tensors: a row where they differ, none where they are equal; they count for the exit code.
calls() { # DIRECTORY EPSILON DROPOUT
  mkdir -p "$1/step0/rank0"
  local x='{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":2.0,"Min":1.0,"Mean":1.5,"Norm":2.236}'
  printf '{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{
"Functional.layer_norm.0.forward":{"input_args":[%s,{"type":"float","value":%s}],"input_kwargs":{},"output":[%s]},
"Functional.dropout.0.forward":{"input_args":[%s],"input_kwargs":{"p":{"type":"float","value":%s}},"output":[%s]}}}' \
    "$x" "$2" "$x" "$x" "$3" "$x" >"$1/step0/rank0/dump.json"
}
calls ref 1e-06 0.0
calls bad 0.01 0.0
calls noisy 1.0001e-06 0.0
show msdump diff bad ref
msdump diff -q --json bad ref | jq -c '.summary, (.rows[] | select(.io == "argument") | {op_name, slot, verdict, a_value, b_value, reason})'
msdump diff -q --csv bad ref | head -2 | tr , '\n' | grep -c value
show msdump diff noisy ref
show msdump diff bad ref --atol 0.1
show msdump diff bad ref --op '*dropout*'
msdump diff -q bad ref --write-baseline accepted.json >/dev/null
show msdump diff bad ref --baseline accepted.json
calls worse 0.02 0.5
show msdump diff worse ref --baseline accepted.json

# Of two dumps below one path each has arguments of its own.
for side in bad ref; do
  mkdir -p "two-$side"
  cp -r ref "two-$side/first"
  cp -r "$side" "two-$side/second"
done
msdump diff -q --json two-bad two-ref | jq -c '.rows[] | select(.io == "argument") | [.dump, .op_name, .a_value, .b_value]'
