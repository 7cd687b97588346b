# What outputs should be, from the inputs of their operators: of the sample, whose formats are a device's; and of runs with an
# operator that is wrong, which a comparison with them names.
cp -r "$TESTDATA/sample" sample
show msdump check sample --golden expected --rule none
files expected
msdump check sample --golden expected --rule none --json -q | jq -c '.golden[] | [.op_type, .slot, .path != null, .reason, .what]'
files expected
show msdump diff sample expected --io output --op '*op13' --op '*op3?' --op '*op40'
# The BiasAdd hands its input on.
file=$(ls sample/rank_0/Net/0/0/BiasAdd.*)
{ head -c -1152 "$file" && tail -c 2336 "$file" | head -c 1152; } >handed_on && mv handed_on "$file"
show msdump check sample --golden expected --rule none --op '*BiasAdd*'
msdump diff -q sample expected --io output --op '*BiasAdd*' --json | jq -c '.rows[] | [.op_name, .verdict]'
scaled_net wrong 2 0.5
show msdump check wrong --golden right --rule none
files right
show msdump diff wrong right --io output
# Some of twelve operators of one type, one of them wrong: each is paired with the operator that it was computed for.
mul_net fan fan 1e-8 7=1.5
msdump check fan -q --golden few --op '*op3' --op '*op7' --op '*op9' --rule none >few.txt
msdump diff fan few -q --io output --json | jq -c '.rows[] | select(.verdict != "unmatched") | [.verdict, .a.op_name, .b.op_name]'
msdump diff few fan -q --io output --json | jq -c '.rows[] | select(.verdict != "unmatched") | [.verdict, .a.op_name, .b.op_name]'
# Nothing is written into the dump, also not through a link; a folder beside a single file is not the dump.
show msdump check wrong --golden wrong/golden
show msdump check wrong --golden wrong/../wrong
(cd wrong && show msdump check . --golden there)
net=wrong/rank_0/Net/0/0
show msdump check $net/Add.Default_Add-op0.0.0.1700000000000002.output.0.DefaultFormat.Float32.npy --golden $net
show msdump check -q $net/Add.Default_Add-op0.0.0.1700000000000002.*.npy --golden $net/golden --rule none
rm -r $net/golden
mkdir linked && ln -s ../wrong/rank_0 linked/rank_0
cp -r wrong before
show msdump check -q wrong --golden linked --rule none --op '*Mul*'
diff -r wrong before && echo unchanged
# Names in a mapping.csv do not lead out of the folder; long ones are in one as well.
mkdir named
long=$(printf 'N%.0s' {1..260})
tensor() { npy "named/$1.npy" '<f4' '(2,)' "$(f32 "${@:3}")" && echo "$1.npy,$2.npy" >>named/mapping.csv; }
tensor 11111111111111111111111111111111 Neg.a/../../../out.0.0.1700000000000001.input.0.ND.Float32 1 2
tensor 22222222222222222222222222222222 Neg.a/../../../out.0.0.1700000000000001.output.0.ND.Float32 -1 -2
tensor 33333333333333333333333333333333 "Neg.$long.0.0.1700000000000002.input.0.ND.Float32" 1 2
tensor 44444444444444444444444444444444 "Neg.$long.0.0.1700000000000002.output.0.ND.Float32" -1 -3
show msdump check named --golden names/of/these --rule none -q
files names
msdump diff -q named names/of/these --io output --json | jq -c '.rows[] | [.verdict, (.op_name | length)]'
# An Ascend file has the name that an array of it has in the same folder.
mkdir both
cp sample/rank_0/Net/0/0/ReduceMean.* both/ReduceMean.Mean.7.7.5
npy both/ReduceMean.Mean.7.7.5.input.0.npy '<f4' '(2,)' "$(f32 1 2)"
npy both/ReduceMean.Mean.7.7.5.output.0.npy '<f4' '()' "$(f32 1.5)"
show msdump check both --golden of_both --rule none -q
files of_both
# Files that cannot be written.
mkdir blocked && touch blocked/rank_0
show msdump check -q wrong --golden blocked --rule none --op '*Mul*'
: >file
show msdump check wrong --golden file --rule none
show msdump check wrong --golden there --first
show msdump check wrong --golden there --no-recompute
show msdump check wrong --golden there --shard 1/2 -out part
