# Checkpoints pair by name, also across other shards, else by their values; what was found is told.
digits() { # SEED COUNT: digits that follow from the seed
  local state=$1 i
  for ((i = 0; i < $2; ++i)); do
    state=$(((state * 1103515245 + 12345) % 2147483648))
    printf '%s ' $((state >> 16 & 7))
  done
}
q=$(digits 1 64) k=$(digits 2 32) v=$(digits 3 32) embed=$(digits 4 48) norm=$(digits 5 16)
transposed() { # ROWS COLUMNS "VALUE..."
  local values row column
  read -ra values <<<"$3"
  for ((column = 0; column < $2; ++column)); do
    for ((row = 0; row < $1; ++row)); do printf '%s ' "${values[row * $2 + column]}"; done
  done
}
checkpoint a/1.safetensors model.0.q.weight 8,8 "$q" model.0.k.weight 4,8 "$k"
checkpoint a/2.safetensors model.0.v.weight 4,8 "$v" embed.weight 6,8 "$embed" model.norm.weight 16 "$norm"

echo '--- other shards'
checkpoint b/1.safetensors model.norm.weight 16 "$norm" model.0.v.weight 4,8 "$v"
checkpoint b/2.safetensors embed.weight 6,8 "$embed" model.0.k.weight 4,8 "${k/3/9}" model.0.q.weight 8,8 "$q"
show msdump diff a b

echo '--- other names, joined, tied'
checkpoint c/1.safetensors net.0.qkv.weight 16,8 "$q $k ${v/3/9}" tok_embed.weight 6,8 "$embed" net.norm.gamma 16 "$norm" \
  head.weight 6,8 "$embed"
show msdump diff a c
msdump diff -q a c --json | jq -c '.relations[], (.rows[] | [.a.op_name, .b.op_name, .b.shape, .verdict, .paired_by, .reason])'
msdump diff -q a c --csv | cut -d, -f1,7 | sed -n 1,3p
msdump diff -q c a --json | jq -c '.rows[] | [.a.op_name, .a.shape, .b.op_name, .verdict]'

echo '--- transposed'
checkpoint d/1.safetensors model.0.q.weight 8,8 "$q" model.0.k.weight 8,4 "$(transposed 4 8 "$k")" model.0.v.weight 4,8 "$v" \
  embed.weight 6,8 "$embed" model.norm.weight 16 "$norm"
show msdump diff a d --all

echo '--- a larger vocabulary'
checkpoint e/1.safetensors embed.weight 7,8 "$embed 0 0 0 0 0 0 0 0" model.0.q.weight 8,8 "$q" model.0.k.weight 4,8 "$k" \
  model.0.v.weight 4,8 "$v" model.norm.weight 16 "$norm"
show msdump diff a e
checkpoint f/1.safetensors embed.weight 8,8 "${embed/3/9} 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0" model.0.q.weight 8,8 "$q"
show msdump diff e f

echo '--- nothing in common, and a map'
checkpoint g/1.safetensors x 3 '1 2 3' y 2 '4 5'
show msdump diff a g
printf 'model.norm.weight,x\n' >map.csv
show msdump diff a g --map map.csv --op '*norm*'

echo '--- too few values to tell, and names half of which are the same'
checkpoint few/1.safetensors a.w 2 '1 2' b.w 3 '4 5 6'
checkpoint half/1.safetensors a.v 2 '1 2.5' b.v 3 '4 5 6'
checkpoint none/1.safetensors other.v 2 '1 2.5' b.v 3 '4 5 6'
show msdump diff few half
show msdump diff few none

echo '--- each part has a line of its own in a baseline'
msdump diff -q c a --write-baseline accepted.json >/dev/null
show msdump diff c a --baseline accepted.json
show msdump diff c b --baseline accepted.json -q
echo '--- the other forms of output'
msdump diff -q a c --report page.html >/dev/null
grep -c 'part 3 of 3' page.html
show msdump diff -q a c --worst 1 --by-axis
show msdump diff -q a c --explain model.0.v.weight
