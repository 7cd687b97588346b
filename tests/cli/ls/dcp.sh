# A checkpoint of torch.distributed.checkpoint, as PyTorch 2.6 saves it on two processes: whole tensors from the shards of both,
# and what is told if a file is missing.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
cd torch || exit
show msdump ls -d dcp
show msdump info -d dcp
show msdump info dcp_plain/.metadata --values
show msdump info dcp_plain/__0_0.distcp
show msdump stats -d dcp -q --columns count,max --op-type Parameter
rm dcp/__1_0.distcp
show msdump ls -d dcp -q
msdump stats -d dcp -q --json 2>/dev/null | jq -c '[.rows[].op_name]'
show msdump info dcp/.metadata
