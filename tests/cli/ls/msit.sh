# msit (ait) of PyTorch modules: rank, token, module, io and slot are in folders and names.
for token in 0 2; do
  for module in root.model.layers.0.mlp root.model.layers.1.mlp; do
    folder=dump/torch_tensors/npu1_4321/$token/$module
    mkdir -p $folder
    touch $folder/{input_0,input_1_0,output,weight}.pth
  done
done
msdump ls -q -d dump --no-shape --step 2 --jsonl | jq -c '[.rank, .step, .op_type, .op_name, .io, .slot]'
msdump info dump | head -6
