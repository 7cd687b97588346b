# What outputs should be, as arrays beside the dump: diff pairs them. The BiasAdd hands its input on.
cp -r "$TESTDATA/sample" wrong
file=$(ls wrong/rank_0/Net/0/0/BiasAdd.*)
{ head -c -1152 "$file" && tail -c 2336 "$file" | head -c 1152; } >handed_on && mv handed_on "$file"
show msdump check wrong --golden golden --rule none
files golden
show msdump diff -q wrong golden --io output --op '*BiasAdd*'
msdump diff -q wrong golden --io output --op '*BiasAdd*' --json | jq -c '.rows[] | [.op_name, .verdict, .dtype_a, .dtype_b]'
msdump diff -q "$TESTDATA/sample" golden --io output --op '*BiasAdd*' --json | jq -c '.rows[] | [.op_name, .verdict]'
# Some operators, and again over what is there.
show msdump check wrong --golden golden --rule none --op '*ReduceMean*'
# Files of the dump are not replaced, whatever the folder is called.
numbers=(1 2.5 -3 4.125 5 -6.5 7 8.25 9 10 11.5 12)
dumped one Neg.Default_Neg-op0 1 input.0 "${numbers[@]}"
dumped one Neg.Default_Neg-op0 1 output.0 "${numbers[@]}"
cp -r one before
show msdump check -q one --golden ./one/../one --rule none
cmp one/rank_0/Net/0/0/*output* before/rank_0/Net/0/0/*output* && echo unchanged
mkdir blocked && touch blocked/rank_0
show msdump check -q one --golden blocked --rule none
show msdump check one --golden golden --no-recompute
