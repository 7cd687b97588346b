# What is not found is said with what is near; what makes no sense with what would.
cd "$TESTDATA/sample" || exit
show msdump find-op --line net.py:25
show msdump find-op --line nett.py:25
show msdump find-op --line other.py:25
show msdump find-op --code 'self.dense(x)'
show msdump find-op MatMul-op21
show msdump find-op --line net.py:24 -0
show msdump find-op
show msdump find-op --line 25
show msdump find-op --line net.py:23 --ir nowhere.ir
show msdump find-op --line net.py:23 --ir rank_0/Net/0/0/mapping.csv
show msdump map-ir --around x
show msdump map-ir --dot --json
show msdump map-ir --dot --around Conv3D-op1
show msdump map-ir --prove --ir rank_0/graphs
mkdir "$HOME/empty"
show msdump map-ir -d "$HOME/empty" | sed "s,${HOME%/*},..,g"
msdump find-op --line net.py:25 --json -q | jq -c '.summary, .nearest'
