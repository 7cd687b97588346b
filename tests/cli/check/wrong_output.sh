# An operator that is wrong by its own inputs, and what it did instead: the BiasAdd of the sample hands its input on. Alone, and
# beside a run that is right.
cp -r "$TESTDATA/sample" wrong && ln -s "$TESTDATA/sample" right
file=$(ls wrong/rank_0/Net/0/0/BiasAdd.*)
# Its tensors end the file: the input, the bias of 32 bytes, the output.
{ head -c -1152 "$file" && tail -c 2336 "$file" | head -c 1152; } >handed_on && mv handed_on "$file"
show msdump check wrong --rule none --rule wrong_output
msdump check wrong --json -q --rule none --rule wrong_output | jq -c '.recompute[]'
msdump check right --json -q --rule none --rule wrong_output | jq -c .recompute
show msdump diff wrong right
show msdump diff -q wrong right --explain BiasAdd-op13
msdump diff -q wrong right --explain BiasAdd-op13 --json | jq -c '.first_divergence[].recompute, .explain[].outputs[].recompute'
# Zeros in, zeros out: right by itself.
cp -r "$TESTDATA/sample" fed
file=$(ls fed/rank_0/Net/0/0/BiasAdd.*)
{ head -c -2336 "$file" && head -c 2336 /dev/zero; } >other && mv other "$file"
show msdump diff -q fed right --explain BiasAdd-op13
