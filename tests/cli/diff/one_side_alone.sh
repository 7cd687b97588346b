# Why a tensor has no partner: a rank that the other side has not, or an operator that is paired with another one.
for side in bad ref; do
  for rank in 0 1; do
    mkdir -p "$side/rank_$rank/Net/0/0"
    npy "$side/rank_$rank/Net/0/0/Add.Default_Add-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" '<f4' '(2,)' "$(f32 1 2)"
  done
done
rm -r bad/rank_1
reasons() { msdump diff -q "$@" --jsonl | jq -c 'select(.verdict == "unmatched") | [.rank, .op_name, .reason]'; }
reasons bad ref
reasons ref bad
for side in ref bad; do
  dumped shifted_$side Sub.Default_Sub-op0 1 output.0 1 2
  dumped shifted_$side Mul.Default_Mul-op0 2 output.0 1 2
  dumped shifted_$side Exp.Default_Exp-op0 3 output.0 1 2
done
dumped shifted_ref Mul.Default_Mul-op1 4 output.0 3 4
dumped shifted_ref Log.Default_Log-op0 5 output.0 3 4
reasons shifted_bad shifted_ref
# The candidate's operator of that name is the reference's other one.
dumped other_ref Add.Default_Add-op0 1 output.0 1 2
dumped other_ref Add.Default_Add-op1 2 output.0 1 2 3 4
dumped other_bad Add.Default_Add-op0 3 output.0 1 2 3 4
reasons other_bad other_ref
