# Arrays that numpy can read stay where they are, and this is said.
mkdir dump
npy_file dump/Add.a.1.2.1700000000000001.output.0.ND.npy '<f4' '(3,)' 12
show msdump convert -d dump -out out
show msdump convert -d dump -out out -f NHWC
files .
# So do the .pt files of PyTorch.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
show msdump convert -d torch/zero/stage1.pt -out other
mkdir -p pt/step0/rank0/dump_tensor_data
cp torch/zero/stage1.pt pt/step0/rank0/dump_tensor_data/Torch.exp.0.forward.output.0.pt
show msdump convert -d pt -out other --op Torch.exp.0.forward
show msdump convert -d pt -out other --op Torch.log.0.forward
