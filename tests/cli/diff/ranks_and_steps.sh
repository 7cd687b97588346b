# One dump against itself: rank against rank, step against step.
npy_at() {
  mkdir -p "dump/rank_$1/Net/0/$2"
  npy "dump/rank_$1/Net/0/$2/Add.Default_Add-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" '<f4' '(2,)' "$(f32 "$3" "$4")"
}
npy_at 0 0 1 2
npy_at 0 1 1 2.5
npy_at 1 0 1 2
npy_at 1 1 1 3
both() { msdump diff -q dump --jsonl "$@" | jq -c '[.verdict, .rank, .step, .a.rank, .a.step, .b.rank, .b.step, .metrics.max_abs]'; }
both --a-rank 0 --b-rank 1
both --a-step 0 --b-step 1
both --a-step 0 --b-step 1 --rank 1
both --a-rank 0 --b-rank 1 --a-step 0 --b-step 1
msdump diff -q dump dump --a-step 1 --b-step 0 --rank 0 --jsonl | jq -c '[.verdict, .a.step, .b.step]'
show msdump diff dump --a-rank 0 --b-rank 0
show msdump diff dump
show msdump diff dump --a-rank 0
show msdump diff dump --a-rank 0 --b-rank 1 --rank 0
show msdump diff dump --a-step 0 --b-step 1 --step 0
show msdump diff dump --a-rank 0 --b-rank 7
show msdump diff dump --a-rank zero --b-rank 1

echo '--- two ranks that ran for more steps, and that have another output in some of them'
for side in short long; do
  for rank in 0 1; do
    folder=$side/rank_$rank/Net/0
    for step in 0 1 2 3; do
      if [[ $side == short && $step -gt 1 ]]; then continue; fi
      mkdir -p "$folder/$step"
      npy "$folder/$step/Add.Default_Add-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" '<f4' '(2,)' "$(f32 1 2)"
      if [[ $side == long && $step -eq 1 ]]; then
        npy "$folder/$step/Add.Default_Add-op0.0.0.1700000000000001.output.1.DefaultFormat.Float32.npy" '<f4' '(2,)' "$(f32 3 4)"
      fi
    done
  done
done
show msdump diff long short
