# A dict of activations for each pass: tokens change from file to file, so it is a run, in the order of the dict.
# pass FOLDER STEP TOKENS BYTE: embed, attn and mlp, of which mlp has elements of BYTE.
pass() {
  local bytes=$(($3 * 8)) zeros mlp
  mkdir -p "$1"
  zeros=$(printf '\\x01\\x3f%.0s' $(seq 1 $((bytes / 2))))
  mlp=$(printf "\\\\x$4\\\\x3f%.0s" $(seq 1 $((bytes / 2))))
  safetensors "$1/pass_$2.safetensors" "{\"w_embed\":{\"dtype\":\"F16\",\"shape\":[$3,4],\"data_offsets\":[0,$bytes]},\"b_attn\":{\"dtype\":\"F16\",\"shape\":[$3,4],\"data_offsets\":[$bytes,$((2 * bytes))]},\"a_mlp\":{\"dtype\":\"F16\",\"shape\":[$3,4],\"data_offsets\":[$((2 * bytes)),$((3 * bytes))]}}" "$zeros$zeros$mlp"
}
for step in 0 1 2; do
  pass good "$step" $((5 - step)) 40
  pass bad "$step" $((5 - step)) "$( ((step == 1)) && echo 90 || echo 40)"
done
show msdump ls -d bad
msdump diff -q bad good --json | jq -c '[.first_divergence[] | .op_name, .step], [.summary | .compared, .same, .differ, .unmatched]'
show msdump ls --step 1 --op '*mlp' bad
show msdump diff --step 0,2 bad good
show msdump stats --step 7 bad
show msdump diff --step 7,9 bad good
show msdump diff --step 1 --op nothing bad good
# Of one size they may be checkpoints: the tensors are parameters.
pass one 0 5 40
pass one 1 5 40
msdump ls -d one --jsonl | jq -c '[.op_name, .io, .step]'
