# Parts over ranks that do not make up a parameter of the other side: what is missing or other is said, and nothing is made up.
numbers() { awk -v seed="$1" -v count="$2" 'BEGIN { for (i = 0; i < count; ++i) printf "%s ", (seed * 7919 + i * 31 + i * i * seed) % 97 }'; }
rank() { checkpoint "$1/iter_0000100/mp_rank_0$2/model.safetensors" "${@:3}"; }
compared() { msdump diff -q "$@" --json | jq -c '.rows[] | [.op_name, .verdict, .layout, .reference_layout, .reason]'; }
checkpoint whole/model.safetensors layers.0.q_proj.weight 4,8 "$(numbers 1 32)" layers.0.k_proj.weight 4,8 "$(numbers 2 32)" \
  layers.0.norm.weight 8 "$(numbers 3 8)"

echo '# another training: under its own name, with the shape of the partner'
for place in 0 1; do
  rank other $place layers.0.q_proj.weight 2,8 "$(numbers 4$place 16)" layers.0.k_proj.weight 2,8 "$(numbers 2 32 | cut -d' ' -f$((place * 16 + 1))-$((place * 16 + 16)))" \
    layers.0.norm.weight 8 "$(numbers 3 8)"
done
compared other whole

echo '# under another name, with values that nobody else has'
for place in 0 1; do
  rank renamed $place layers.0.qk.weight 4,8 "$(numbers 5$place 32)" layers.0.norm.weight 8 "$(numbers 3 8)"
done
compared renamed whole

echo '# a rank without its part'
q=(layers.0.q_proj.weight "2,8") norms=(layers.0.norm.weight 8 "$(numbers 3 8)" layers.1.norm.weight 8 "$(numbers 6 8)")
checkpoint full/model.safetensors layers.0.q_proj.weight 4,8 "$(numbers 1 32)" layers.0.k_proj.weight 4,8 "$(numbers 2 32)" "${norms[@]}"
rank lost 0 "${q[@]}" "$(numbers 1 16)" layers.0.k_proj.weight 2,8 "$(numbers 2 16)" "${norms[@]}"
rank lost 1 "${q[@]}" "$(numbers 1 32 | cut -d' ' -f17-32)" "${norms[@]}"
compared lost full
echo '# the same of few parameters, and a stage of a pipeline that has no more than the embedding in common'
checkpoint few/model.safetensors layers.0.q_proj.weight 4,8 "$(numbers 1 32)" layers.0.k_proj.weight 4,8 "$(numbers 2 32)"
rank lost_of_few 0 "${q[@]}" "$(numbers 1 16)" layers.0.k_proj.weight 2,8 "$(numbers 2 16)"
rank lost_of_few 1 "${q[@]}" "$(numbers 1 32 | cut -d' ' -f17-32)"
compared lost_of_few few
rank stages 0 embed 4,8 "$(numbers 7 32)" layers.0.q_proj.weight 4,8 "$(numbers 1 32)"
rank stages 1 embed 4,8 "$(numbers 7 32)" layers.0.k_proj.weight 4,8 "$(numbers 2 32)"
compared stages few

echo '# columns of one, rows of the other, joined'
joined() { awk '{ for (i = 0; i < 64; ++i) if (int(i % 8 / 4) == '"$1"') printf "%s ", $(i + 1) }' <<<"$(numbers 1 32)$(numbers 2 32)"; }
for place in 0 1; do
  rank columns $place layers.0.qk.weight 8,4 "$(joined $place)" layers.0.norm.weight 8 "$(numbers 3 8)"
done
compared columns whole
compared whole columns

echo '# a parameter that one rank alone has: whole, whole with another value, and one of three copies that is missing'
checkpoint once/model.safetensors embed 4,8 "$(numbers 7 32)" layers.0.norm.weight 8 "$(numbers 3 8)"
rank kept_once 0 embed 4,8 "$(numbers 7 32)" layers.0.norm.weight 8 "$(numbers 3 8)"
rank kept_once 1 embed 4,8 "$(numbers 7 32)"
compared kept_once once
rank kept_once 0 embed 4,8 "$(numbers 7 32)" layers.0.norm.weight 8 "$(numbers 4 8)"
compared once kept_once
for place in 0 1; do rank kept_twice $place embed 4,8 "$(numbers 7 32)" layers.0.norm.weight 8 "$(numbers 3 8)"; done
rank kept_twice 2 embed 4,8 "$(numbers 7 32)"
compared kept_twice once

echo '# parts of an unknown dtype, of a name that both have and of one that is renamed'
checkpoint known/model.safetensors layers.0.q_proj.weight 4,8 "$(numbers 1 32)" layers.0.k_proj.weight 4,8 "$(numbers 2 32)" "${norms[@]}"
for place in 0 1; do
  half=$((place * 16 + 1))-$((place * 16 + 16))
  rank unknown $place "${q[@]}" "$(numbers 1 32 | cut -d' ' -f$half)" layers.0.key.weight 2,8 "$(numbers 2 32 | cut -d' ' -f$half)" "${norms[@]}"
done
compared unknown known
sed -i 's/\(key\|q_proj\).weight":{"dtype":"F32"/\1.weight":{"dtype":"X32"/g' unknown/iter_0000100/mp_rank_01/model.safetensors
compared unknown known 2>/dev/null
compared known unknown 2>/dev/null
