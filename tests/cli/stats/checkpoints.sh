# Checkpoints in several files: a file that the index names and nobody has is told, with the statistics of the others. Of the parts of
# ranks there is a row for each; torch.distributed.checkpoint and ZeRO are whole, or say what lacks.
checkpoint hf/model-1-of-2.safetensors up 2,2 '1 2 3 4'
checkpoint hf/model-2-of-2.safetensors down 2 '5 -6'
echo '{"metadata":{"total_size":24},"weight_map":{"up":"model-1-of-2.safetensors","down":"model-2-of-2.safetensors"}}' >hf/model.safetensors.index.json
rows() { msdump stats "$@" --jsonl | jq -c '[.op_name, .rank, .shape, .max, .min]'; }
rows -q hf
cp -r hf lost
rm lost/model-2-of-2.safetensors
show msdump stats lost --columns max
show msdump diff lost hf
checkpoint ranks/mp_rank_00/model.safetensors up 1,2 '1 2'
checkpoint ranks/mp_rank_01/model.safetensors up 1,2 '3 4'
rows -q ranks
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
rows -q torch/dcp_plain
rm torch/dcp_plain/__1_0.distcp
show msdump stats -q torch/dcp_plain --columns max
