# Parts of check over ranks, merged: the findings about exchanges and replicas are those of one run.
# Three ranks of the same weights; what is put into AllReduce differs.
# rank_dump RANK STEP WEIGHT SUM
rank_dump() {
  local dir=rank_$1/Net/0/$2 op
  mkdir -p "$dir"
  array() { npy "$dir/$1.0.0.17000000000000$2.DefaultFormat.Float32.npy" '<f4' '(4,)' "$(f32 "${@:3}")"; }
  for op in 0 1 2 3 4 5 6 7; do array "Parameter.layer$op.weight" "09.output.0" "$op" 1 -2 0.5; done
  array Parameter.last.weight 09.output.0 "$3" -3 4 1.5
  array AllReduce.Default_AllReduce-op1 20.input.0 "$(($1 + $2))" 1 -0.5 0.25
  array AllReduce.Default_AllReduce-op1 20.output.0 "$4" 3 -1.5 0.75
}
for rank in 0 1 2; do for step in 0 1 2; do rank_dump "$rank" "$step" 0.5 "$((3 + 3 * step))"; done; done
rank_dump 2 1 0.5 6.5  # got another sum
rank_dump 1 2 0.625 9  # has another weight

rules='--rule weight_unchanged:off'
# shellcheck disable=SC2086  # two words
for i in 1 2 3; do msdump check --no-recompute $rules --shard "$i/3" -out "parts/$i" -q; done
for form in --csv --json --all; do
  # shellcheck disable=SC2086
  msdump check --no-recompute $rules $form >whole 2>&1
  show msdump merge parts/* $form | sed '1d;$d' | diff whole - && echo "the same: $form"
done
show msdump merge parts/* --csv -q
