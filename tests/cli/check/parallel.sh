# Four ranks with the same weight and a batch each, whose gradients are summed: what one rank got or holds otherwise.
# rank_dump RANK STEP WEIGHT GRADIENT SUM
rank_dump() {
  local dir=rank_$1 time=$((10 + $2 * 10))
  dumped made Mul.Default_Mul-op0 $((time + 1)) input.0 "$1" 2 -3 4.5
  dumped made Mul.Default_Mul-op0 $((time + 1)) input.1 "$3" -0.75 1.5 2
  dumped made Mul.Default_Mul-op0 $((time + 1)) output.0 "$4" 1 -0.5 0.25
  dumped made AllReduce.Default_AllReduce-op1 $((time + 2)) input.0 "$4" 1 -0.5 0.25
  dumped made AllReduce.Default_AllReduce-op1 $((time + 2)) output.0 "$5" 4 -2 1
  mkdir -p "$dir/Net/0" "$dir/graphs"
  mv made/rank_0/Net/0/0 "$dir/Net/0/$2"
  {
    ir_node 0 Mul "%para1_x, %para2_w" Default/Mul-op0 11
    ir_node 1 AllReduce '%0' Default/AllReduce-op1 12
  } | sed 's/AllReduce(%0)/& primitive_attrs: {group: "nccl_world_group", op: "sum", rank_list: (0, 1, 2, 3)}/' |
    ir_graph >"$dir/graphs/ms_output_trace_code_graph_0.ir"
}
ranks() { local rank; for rank in 0 1 2 3; do for step in 0 1; do rank_dump "$rank" "$step" 0.5 "$((rank + step))" "$((6 + 4 * step))"; done; done; }
ranks
show msdump check --no-recompute
# Rank 2 was given another sum, and in step 1 rank 1 has another weight.
rm -r rank_2/Net/0/0 rank_1/Net/0/1
rank_dump 2 0 0.5 2 6.5
rank_dump 1 1 0.625 2 10
show msdump check --no-recompute
show msdump check --no-recompute --first --junit first.xml
grep -c 'classname="msdump.check.replica_mismatch"' first.xml
grep -o '<testsuites [^>]*>\|<failure message="[^"]*"' first.xml
msdump check --no-recompute --json -q | grep -o '"ranks":[^}]*\|"first_apart":.*' | sed 's/,"reason".*//'
# The page has the place, the tensors of two ranks, and their points.
msdump check --no-recompute -q --report page.html >/dev/null
grep -o '<h1 [^/]*</h1>' page.html
sed -n '/<h2 id="cause-title">/,/<.section>/p' page.html | sed 's/<[^>]*>/ /g; s/  */ /g' | grep -v '^ *$'
sed -n 's/.*id="data">\([^<]*\)<.*/\1/p' page.html | base64 -d | gzip -d | jq -c '.causes[].rows as $rows | [.points.columns[] |
  select(.key == "rank" or .key == "step") | [.numbers[$rows[]]]]'
show msdump check --no-recompute -q --rule collective_mismatch:off --rule replica_mismatch:off
# The part of rank 3 is not in the sum.
rm -r rank_?
ranks
for rank in 0 1 2 3; do
  rm -r "rank_$rank/Net/0/0"
  rank_dump "$rank" 0 0.5 "$((rank + 1))" 7
done
for rank in 0 1 2 3; do
  for file in rank_"$rank"/Net/0/0/AllReduce*output*; do npy "$file" '<f4' '(4,)' "$(f32 6 3 -1.5 0.75)"; done
done
show msdump check --no-recompute -q --csv --rule none --rule collective_mismatch
# A rank that is not there, nor its part.
rm -r rank_2
show msdump check --no-recompute -q
