# Four ranks with the same weight and a batch each, whose gradients are summed: what one rank got or holds otherwise.
source "$(dirname "${BASH_SOURCE[0]}")/ranks.bash"
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
