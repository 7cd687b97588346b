# Operators are computed again by the shards: merge gives what one run gives, and reads the tensors of no operator that is right.
# same N OPTION...: all forms of one run, and of merge after all elements of $hidden are others.
same() {
  local n=$1 form i
  shift
  rm -rf parts
  for ((i = 1; i <= n; i++)); do msdump check "$@" --shard "$i/$n" -out "parts/$i" -q || echo "shard: $?"; done
  for form in --csv --json '' '--json --junit x.xml --report x.html'; do
    # shellcheck disable=SC2086  # no form is none
    all msdump check "$@" $form >"whole$form"
  done
  for file in $hidden; do
    cp -p "$file" "$file.kept"
    two_floats "$file.0" "$(f32 7 7)"
    { head -c -8 "$file" && tail -c 8 "$file.0"; } >other && cat other >"$file" && rm "$file.0"
    mkdir -p away && mv "$file.kept" "away/${file##*/}"
    touch -r "away/${file##*/}" "$file"
  done
  for form in --csv --json '' '--json --junit x.xml --report x.html'; do
    # shellcheck disable=SC2086
    all msdump merge parts/* $form >merged
    cmp "whole$form" merged && echo "the same: $n $* $form $(grep -a '^.exit' merged)"
  done
  for file in $hidden; do cat "away/${file##*/}" >"$file" && touch -r "away/${file##*/}" "$file"; done
}
all() {
  rm -f x.xml x.html
  "$@" 2>&1
  echo "[exit $?]"
  [[ ! -e x.html ]] || grep -hv '<dd><code>msdump' x.xml x.html # its options are in the order of --help
}

# Two operators are wrong.
mul_net net chain 0 4=1.5 7=1.25
hidden=$(ls net/rank_0/Net/0/0/Mul.Default_Mul-op{0,2,9}.*)
same 3 net
same 2 net --op '*op4'
msdump merge parts/* --json -q | jq -c '.summary.recompute'

# A device whose functions have 13 bits: what is wrong without knowing that is judged again, in the shards as well.
for op in 0 1 2 3 4 5 6 7 8 9 10 11; do
  mapfile -t numbers < <(awk -v op="$op" -v wrong="$((op == 3))" 'BEGIN {
    for (i = 1; i <= 8; i++) {
      x = (i - 4.5) / (op + 2)
      printf "%.9g\n%.9g\n", x, (1 + (i % 2 ? 1 : -1) * 0.0001) / (1 + exp(-x)) * (wrong && i == 5 ? 1.5 : 1)
    }
  }')
  x=() y=()
  for ((i = 0; i < 16; i += 2)); do x+=("${numbers[i]}") y+=("${numbers[i + 1]}"); done
  dumped device "Sigmoid.Default_Sigmoid-op$op" "$((10 + op))" input.0 "${x[@]}"
  dumped device "Sigmoid.Default_Sigmoid-op$op" "$((10 + op))" output.0 "${y[@]}"
done
mkdir -p device/rank_0/graphs
for op in 0 1 2 3 4 5 6 7 8 9 10 11; do ir_node "$op" Sigmoid "%para${op}_x" "Default/Sigmoid-op$op" "$((20 + op))"; done |
  ir_graph 0 >device/rank_0/graphs/ms_output_trace_code_graph_0.ir
hidden=$(ls device/rank_0/Net/0/0/Sigmoid.Default_Sigmoid-op{0,2,9}.*)
same 2 device
msdump merge parts/* --json -q | jq -c '.summary.recompute'
msdump merge parts/* --csv -q | cut -d, -f1-4 | head -3

# diff: merge computes again what differs.
mul_net right chain 0
for i in 1 2; do msdump diff net right --shard "$i/2" -out "pairs/$i" -q; done
msdump diff net right --json >whole.json 2>/dev/null
msdump merge pairs/* --json 2>/dev/null | cmp whole.json - && echo 'the same: diff'
jq -r '.first_divergence[] | "\(.op_name) \(.decided_by)"' whole.json
