# Parts over ranks of parameters that the other side has joined, transposed and under other names: as Megatron keeps the
# parameters of a layer on two ranks, against the layer as it is published.
rows() { awk -v first="$1" -v count="$2" -v width="$3" -v step="${4:-1}" -v seed="$5" 'BEGIN {
  for (row = 0; row < count; ++row) for (i = 0; i < width; ++i) printf "%s ", (seed * 7919 + (first + row * step) * 31 + i * 17 + (first + row) * i * i * seed) % 97
}'; }
# part NAME FIRST COUNT: rows of a matrix of 8 columns.
part() { rows "$2" "$3" 8 1 "$1"; }
q=1 k=2 v=3 gate=4 up=5 embed=6
layer() {
  local dir=$1 rank
  for rank in 0 1; do
    local half=$((rank * 4)) wide=$((rank * 8))
    checkpoint "$dir/iter_0000100/mp_rank_0$rank/model.safetensors" \
      decoder.layers.0.self_attention.linear_qkv.weight 12,8 "$(part $q $half 4)$(part $k $half 4)$(part $v $half 4)" \
      decoder.layers.0.mlp.linear_fc1.weight 16,8 "$(part $gate $wide 8)$(part $up $wide 8)" \
      embedding.word_embeddings.weight 10,8 "$(part $embed $((rank * 10)) 10)" \
      decoder.layers.0.input_layernorm.weight 16 "${2:-$(part 8 0 2)}"
    shift
  done
}
turned() { awk -v columns=8 '{ for (c = 0; c < columns; ++c) for (i = c + 1; i <= NF; i += columns) printf "%s ", $i }'; }
layer shards
checkpoint whole/model.safetensors model.layers.0.self_attn.q_proj.weight 8,8 "$(part $q 0 8)" \
  model.layers.0.self_attn.k_proj.weight 8,8 "$(part $k 0 8)" model.layers.0.self_attn.v_proj.weight 8,8 "$(part $v 0 8)" \
  model.layers.0.mlp.gate_proj.kernel 8,16 "$(part $gate 0 16 | turned)" model.layers.0.mlp.up_proj.kernel 8,16 "$(part $up 0 16 | turned)" \
  model.embed_tokens.weight 20,8 "$(part $embed 0 20)" model.layers.0.input_layernorm.weight 16 "$(part 8 0 2)"
show msdump diff --all shards whole
msdump diff -q whole shards --json | jq -c '.summary | .same, .unmatched'

# The layouts that were found are written, and taken when they are stated. No part fits a wrong one.
compared() { msdump diff -q "$@" --json | jq -c '.rows[] | [.op_name, .verdict, .layout, .reference_layout, .reason]'; }
for sides in 'shards whole' 'whole shards'; do
  read -ra dirs <<<"$sides"
  msdump diff -q "${dirs[@]}" --write-layout found.txt >/dev/null
  cat found.txt
  compared "${dirs[@]}" >searched
  compared "${dirs[@]}" --layout found.txt >stated
  diff searched stated && echo the same
done
echo '*linear_qkv* = concat(axis=1)' >wrong.txt
compared shards whole --layout wrong.txt | grep -v '"same"'

# One element of the second rank, and a replica that is another one, on either side.
cp -r shards element
layer apart "$(part 8 0 2)" "$(part 8 1 2)"
checkpoint element/iter_0000100/mp_rank_01/model.safetensors \
  decoder.layers.0.self_attention.linear_qkv.weight 12,8 "$(part $q 4 4)$(part $k 4 4)99 $(part $v 4 4 | cut -d' ' -f2-)" \
  decoder.layers.0.mlp.linear_fc1.weight 16,8 "$(part $gate 8 8)$(part $up 8 8)" \
  embedding.word_embeddings.weight 10,8 "$(part $embed 10 10)" decoder.layers.0.input_layernorm.weight 16 "$(part 8 0 2)"
layer before "$(part 8 1 2)" "$(part 8 0 2)"
for sides in 'element whole' 'apart whole' 'whole apart' 'before whole'; do
  read -ra dirs <<<"$sides"
  msdump diff -q "${dirs[@]}" --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict, .reason, .layout, .reference_layout]'
done
# Four ranks with two parts, each twice: the replicas follow each other, or the parts do.
spread() {
  local dir=$1 rank part
  for rank in 0 1 2 3; do
    part=${*:2+rank:1}
    checkpoint "$dir/iter_0000100/mp_rank_0$rank/model.safetensors" decoder.layers.0.self_attention.linear_qkv.weight 12,8 \
      "$(part $q $((part * 4)) 4)$(part $k $((part * 4)) 4)$(part $v $((part * 4)) 4)"
  done
}
spread parts 0 1 0 1
spread replicas 0 0 1 1
for dir in parts replicas; do
  msdump diff -q $dir whole --json | jq -c '[.rows[] | select(.layout != null) | .verdict, .layout]'
done

# Four ranks that divide rows and columns, also under another name; the other side has one of these twice.
block() { part "$1" 0 4 | awk -v rank="$2" '{ for (i = 0; i < 32; ++i) if (int(i / 16) == int(rank / 2) && int(i % 8 / 4) == rank % 2) printf "%s ", $(i + 1) }'; }
for rank in 0 1 2 3; do
  checkpoint "grid/iter_0000100/mp_rank_0$rank/model.safetensors" layers.0.q.weight 2,4 "$(block $q $rank)" \
    layers.0.key.weight 2,4 "$(block $k $rank)" layers.0.norm.weight 16 "$(part 8 0 2)"
done
checkpoint ungridded/model.safetensors layers.0.q.weight 4,8 "$(part $q 0 4)" layers.0.k.weight 4,8 "$(part $k 0 4)" \
  layers.0.norm.weight 16 "$(part 8 0 2)" layers.0.tied.weight 4,8 "$(part $k 0 4)"
compared grid ungridded
compared ungridded grid
