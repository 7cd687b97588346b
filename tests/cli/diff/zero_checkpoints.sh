# Checkpoints of DeepSpeed's ZeRO on two ranks: the parameters are put together from the partitions of both, and are those that
# DeepSpeed's zero_to_fp32 makes of them.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
cd torch/zero || exit
parameters() { msdump "$@" --json 2>notes | jq -c '[.rows[] | select(.op_name | test("optimizer|fragments|module") | not) | .op_name, .verdict]'; }
for stage in stage1 stage3; do
  parameters diff $stage $stage.pt
  cat notes
done
show msdump ls -q -d stage3 --rank 0
msdump stats -q -d stage3 --columns count,max,l2norm --csv | grep -v 'optimizer\|fragments' | cut -d, -f2,5,12-
msdump stats -q -d stage3.pt --columns count,max,l2norm --csv | cut -d, -f2,5,12-

# The partitions of the ranks are exchanged.
for stage in stage1 stage3; do
  cp -r $stage exchanged
  for rank in 0 1; do
    cp "$stage/bf16_zero_pp_rank_${rank}_mp_rank_00_optim_states.pt" "exchanged/bf16_zero_pp_rank_$((1 - rank))_mp_rank_00_optim_states.pt"
  done
  parameters diff exchanged $stage.pt
  rm -r exchanged
done
# A rank is missing: every parameter says so, once. The model of stage 1 has its own.
for stage in stage1 stage3; do
  rm $stage/*rank_1*optim_states.pt
  show msdump diff -q $stage $stage.pt
done
msdump info -q stage1/mp_rank_00_model_states.pt --json | jq -c '.failures[] | .path, .message'
