# The elements of both sides of an operator's tensors, whole and in part.
ln -s "$TESTDATA/sample" ref
ln -s "$TESTDATA/sample-wrong" bad
show msdump diff bad ref --op '*fc1-Dense/MatMul-op20' --io output --values
show msdump diff bad ref --op '*MatMul-op20' --values 0,:3 -q
# Without an operator, with JSON, an index that does not fit, an operator that only one side has.
show msdump diff bad ref --values
show msdump diff bad ref --op '*MatMul-op20' --values --json
show msdump diff bad ref --op '*MatMul-op20' --io output --values 9,:
cp -r ref/. cut && rm cut/rank_0/Net/0/0/ReduceMean*
show msdump diff bad cut --op '*ReduceMean-op30' --values
# Two files need no operator; a path is no index.
npy a.npy '<f4' '(3,)' "$(f32 1 2 3)"
npy b.npy '<f4' '(3,)' "$(f32 1 2.5 3)"
show msdump diff a.npy b.npy --values
show msdump diff --values a.npy b.npy
