# Checkpoints pair by name, also across other shards, else by their values; what was found is told.
f32() { # VALUE...: small whole numbers as bytes of float32, in printf's escapes
  local -A bytes=([0]='\0\0\0\0' [1]='\0\0\x80\x3f' [2]='\0\0\0\x40' [3]='\0\0\x40\x40' [4]='\0\0\x80\x40'
    [5]='\0\0\xa0\x40' [6]='\0\0\xc0\x40' [7]='\0\0\xe0\x40' [8]='\0\0\0\x41' [9]='\0\0\x10\x41')
  local value
  for value in "$@"; do printf '%s' "${bytes[$value]}"; done
}
checkpoint() { # PATH {NAME SHAPE "VALUE..."}...
  local path=$1 header='' data='' at=0 values
  shift
  while (($# > 0)); do
    read -ra values <<<"$3"
    header+="${header:+,}\"$1\":{\"dtype\":\"F32\",\"shape\":[$2],\"data_offsets\":[$at,$((at += 4 * ${#values[@]}))]}"
    data+=$(f32 "${values[@]}")
    shift 3
  done
  mkdir -p "${path%/*}"
  safetensors "$path" "{$header}" "$data"
}
q='1 5 2 9 3 7 8 4' k='9 1 4 4 7 0 2 6' v='3 3 8 1 5 9 0 7' embed='2 7 1 8 2 8 1 8 2 8 4 5' norm='4 1 5 9 2 6 5 3'
checkpoint a/1.safetensors model.0.q.weight 2,4 "$q" model.0.k.weight 2,4 "$k"
checkpoint a/2.safetensors model.0.v.weight 2,4 "$v" embed.weight 3,4 "$embed" model.norm.weight 8 "$norm"

echo '--- other shards'
checkpoint b/1.safetensors model.norm.weight 8 "$norm" model.0.v.weight 2,4 "$v"
checkpoint b/2.safetensors embed.weight 3,4 "$embed" model.0.k.weight 2,4 "${k/9/8}" model.0.q.weight 2,4 "$q"
show msdump diff a b

echo '--- other names, joined, tied'
checkpoint c/1.safetensors net.0.qkv.weight 6,4 "$q $k ${v/9/8}" tok.weight 3,4 "$embed" net.norm.gamma 8 "$norm" \
  head.weight 3,4 "$embed"
show msdump diff a c
msdump diff -q a c --json | jq -c '.relations[], (.rows[] | [.a.op_name, .b.op_name, .b.shape, .verdict, .paired_by, .reason])'
msdump diff -q a c --csv | cut -d, -f1,7 | sed -n 1,3p
msdump diff -q c a --json | jq -c '.rows[] | [.a.op_name, .a.shape, .b.op_name, .verdict]'

echo '--- transposed'
checkpoint d/1.safetensors model.0.q.weight 4,2 '1 3 5 7 2 8 9 4' model.0.k.weight 2,4 "$k" model.0.v.weight 2,4 "$v" \
  embed.weight 3,4 "$embed" model.norm.weight 8 "$norm"
show msdump diff a d --all

echo '--- a larger vocabulary'
checkpoint e/1.safetensors embed.weight 5,4 "$embed 0 0 0 0 0 0 0 0" model.0.q.weight 2,4 "$q" model.0.k.weight 2,4 "$k" \
  model.0.v.weight 2,4 "$v" model.norm.weight 8 "$norm"
show msdump diff a e
checkpoint f/1.safetensors embed.weight 4,4 "${embed/7/6} 1 0 0 0" model.0.q.weight 2,4 "$q"
show msdump diff e f

echo '--- nothing in common, and a map'
checkpoint g/1.safetensors x 3 '1 2 3' y 2 '4 5'
show msdump diff a g
printf 'model.norm.weight,x\n' >map.csv
show msdump diff a g --map map.csv --op '*norm*'
