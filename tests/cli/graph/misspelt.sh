# What was probably meant is said, and a selection that matches nothing is exit code 1.
cd "$TESTDATA/sample" || exit
show msdump find-op net.py:23
show msdump find-op --op-type Conv2
show msdump find-op --line net.py:23 --op Conv2D-op13
show msdump map-ir --op-type Softmx
show msdump map-ir --op MatMul-op20
show msdump map-ir --unmatched --op nosuch
show msdump map-ir --unmatched --rank 7
show msdump map-ir --dot --around Conv2-op12
