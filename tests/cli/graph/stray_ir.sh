# An IR beside the dump that nobody named and that is damaged is a note: the exit code is that of the dump.
mkdir -p run/dump/rank_0/Net/0/0 run/dump2
two_floats run/dump/rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000000.output.0.DefaultFormat.npy
ir_node 0 Add %para1_x Default/Add-op1 12 | ir_graph >good.ir
head -c -3 good.ir >run/graph_build_0_0001.ir
msdump diff run/dump run/dump -q >/dev/null
echo "[exit $?]"
show msdump map-ir -d run/dump | sed "s,${HOME%/*},..,g"
show msdump map-ir -d run/dump --ir run/graph_build_0_0001.ir | sed "s,${HOME%/*},..,g"
printf '\1\2\3' >run/graph_build_0_0001.ir
show msdump find-op --line net.py:12 -d run/dump | sed "s,${HOME%/*},..,g"
# A folder whose name begins as the dump's is not in the dump.
mv run/graph_build_0_0001.ir run/dump2/
mkdir run/dump_graphs && cp good.ir run/dump_graphs/graph_build_0_0001.ir
show msdump find-op --line net.py:12 -d run/dump | sed "s,${HOME%/*},..,g"
