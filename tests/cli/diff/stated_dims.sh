# Two tensor-parallel ranks against one process, as SGLang's dumper writes them: what `dims` says of a tensor counts. The equal
# parts of `partial` are summands, those of `copies` are not; of `unstated` nobody can tell.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
cd torch/dumper || exit
show msdump diff --all tp whole
show msdump ls -q tp --rank 1
msdump ls -q tp --jsonl | jq -c '.distribution | del(..|nulls)'
show msdump info tp/*rank=1*hidden*

# A rank alone is not what is stated.
rm tp/*rank=0*
show msdump diff --all tp whole
