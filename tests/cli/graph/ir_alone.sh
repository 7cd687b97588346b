# Without a dump only the IR is read: rows, nodes without a kernel, a picture.
ir=$TESTDATA/sample/rank_0/graphs
cp "$ir"/*.ir graph_build_0_0012.ir
show msdump map-ir --ir graph_build_0_0012.ir --all
show msdump find-op --line net.py:23 --ir "$(printf '%s' '*.ir')"
msdump map-ir --ir graph_build_0_0012.ir --dot --around ReLU-op15 --depth 1
