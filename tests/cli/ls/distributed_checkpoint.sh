# State dicts of DTensors, as PyTorch 2.6 saves them with torch.save on two processes: the local tensors of each rank, and
# how the global ones are sharded. Of uneven rows one rank may have none.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
cd torch || exit
show msdump ls fsdp2/model_world_size_2_rank_{0,1}.pt
msdump ls -q -d forms --rank 1 --jsonl | jq -c '[.op_name, .dtype, .shape, (.distribution | del(..|nulls))]'
show msdump stats -d fsdp2/model_world_size_2_rank_1.pt --columns count,max
show msdump info fsdp2/model_world_size_2_rank_1.pt
