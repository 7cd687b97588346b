# Ranks of one side that read different tokens: their rows are joined over the ranks.
# shellcheck source=tokens.bash
source "$(dirname "${BASH_SOURCE[0]}")/tokens.bash"
packed packed
rollout good
# Data parallel: each rank has sequences of its own.
data_parallel() {
  forward "$1/step0/rank0" 6, "${2:-0}" 0:0 0:1 0:2 0:3 0:4 0:5
  FAULT=${WRONG:-} forward "$1/step0/rank1" 8, "${2:-0}" 2:0 2:1 2:2 1:0 1:1 1:2 1:3 1:4
}
data_parallel apart
WRONG='+(p>=3?1:0)*0.25' data_parallel bad 0.0000002
# Context parallel: each rank has a part of every sequence; the first and the last tokens are on one rank. A module reads positions.
LATE=9 forward halves/step0/rank0 8, 0 0:0 0:1 0:4 0:5 1:0 1:3 1:4 2:0
LATE=9 forward halves/step0/rank1 6, 0 0:2 0:3 1:1 1:2 2:1 2:2
LATE=9 packed whole
LATE=9 rollout with_positions
# Two ranks read the same tokens, and a third one others.
cp -r apart uneven
cp -r apart/step0/rank1 uneven/step0/rank2
# A rank without ids, as a later stage of a pipeline.
cp -r apart stages
cp -r packed/step0/rank0 stages/step0/rank2
rm stages/step0/rank2/dump_tensor_data/*Embedding*
sed -i 's/"Module.model.embed_tokens[^]]*\][^]]*\][^}]*},//' stages/step0/rank2/dump.json

# Tensor parallel: both ranks read all tokens, and each has half of the logits.
for half in 0 1; do
  HALF=$half rollout halved
  FAULT='+(p>=3&&id>0?1:0)*0.25' HALF=$half rollout wrong
done
# Both: four ranks, of which two read the same tokens.
for half in 0 1; do
  HALF=$half forward mesh/step0/rank$half 6, 0.0000002 0:0 0:1 0:2 0:3 0:4 0:5
  HALF=$half FAULT='+(p>=3?1:0)*0.25' forward mesh/step0/rank$((half + 2)) 8, 0.0000002 2:0 2:1 2:2 1:0 1:1 1:2 1:3 1:4
done
# Two trainings: both sides have a backward pass.
for side in apart packed; do
  cp -r "$side" "trained_$side"
  for json in trained_"$side"/step0/rank*/dump.json; do
    jq '.data["Tensor.mul.0.backward"] = {"input": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2],
        "Max": 1, "Min": 0, "Mean": 0.5, "Norm": 1, "requires_grad": false}], "output": []}' "$json" >with_backward
    mv with_backward "$json"
  done
done

echo '== data parallel'
show msdump diff good apart
show msdump diff apart packed
echo '== a fault on the second rank'
show msdump diff bad packed --rows roots
msdump diff bad packed --json -q | jq '.tokens.first | {candidate_rank, candidate_step, candidate_row, sequence, position}' || true
echo '== context parallel'
show msdump diff with_positions halves
show msdump diff halves whole
echo '== tensor parallel'
show msdump diff halved packed
show msdump diff wrong packed
echo '== data and tensor parallel'
show msdump diff mesh packed
echo '== two trainings are not compared token by token unless that is asked for'
msdump diff trained_apart trained_packed --json -q | jq -c '.tokens' || true
msdump diff trained_apart trained_packed --tokens --json -q | jq -c '.tokens | {sequences, tokens}' || true
msdump diff apart trained_packed --json -q | jq -c '.tokens | {sequences, tokens}' || true
echo '== nothing tells'
show msdump diff good uneven --tokens
show msdump diff good stages --tokens
