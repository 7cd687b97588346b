# Damaged IR: what can be read is used, what cannot is reported with its line; exit code 3.
head -c 1900 "$TESTDATA/sample/rank_0/graphs/ms_output_trace_code_graph_0.ir" >cut.ir
show msdump map-ir --ir cut.ir
printf '\0\1\2\3' >binary.ir
show msdump map-ir --ir binary.ir
echo 'subgraph attr:' >actor_set_0.ir
show msdump map-ir --ir actor_set_0.ir
mkdir -p dump/graphs
printf '{"Functional.add.0.forward": ["File a.py' >dump/stack.json
show msdump find-op --line a.py:1 -d dump
