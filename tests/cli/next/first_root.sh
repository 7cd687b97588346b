# next asks about what diff names first. Here an operator of the backward pass, a later root, is blamed by its own elements; in the
# end it may follow from the first one.
cmake -E tar xf "$TESTDATA/recorded/msprobe.tar.zst" msprobe/trees/pt-mlp-tensor-shape msprobe/trees/pt-mlp-tensor-scale \
  msprobe/trees/pt-block-tensor-bf16 msprobe/trees/pt-block-tensor
cd msprobe/trees || exit
msdump diff pt-mlp-tensor-shape pt-mlp-tensor-scale --json -q 2>/dev/null | jq -r '.first_divergence[].op_name'
msdump next -d pt-mlp-tensor-shape --ref pt-mlp-tensor-scale | grep -E '^(suspect|pinned|question)'
msdump next -d pt-mlp-tensor-shape --ref pt-mlp-tensor-scale --json | jq -c '.state, (.rows[] | [.op_name, .state])'

# A parameter that is to blame is named as diff names it, and not by the operator that reads it.
msdump diff pt-block-tensor-bf16 pt-block-tensor -q --rows roots 2>/dev/null | grep '^first'
msdump next -d pt-block-tensor-bf16 --ref pt-block-tensor
