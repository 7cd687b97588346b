# Dumps given together: each has the operators of its own IR, numbered on their own; two steps of one dump have one IR.
for run in one two; do
  mkdir -p $run/rank_0/{Net/0/0,Net/0/1,graphs,.dump_metadata}
  echo '{"ms_version":"2.10.0"}' >$run/rank_0/.dump_metadata/config.json
  for step in 0 1; do
    two_floats $run/rank_0/Net/0/$step/Add.Default_Add-op0.0.0.170000000000000$step.output.0.DefaultFormat.Float32.npy
  done
done
ir_node 0 Add %para1_x Default/Add-op7 12 | ir_graph >one/rank_0/graphs/ms_output_trace_code_graph_0.ir
ir_node 0 Add %para1_x Default/Add-op9 33 | ir_graph >two/rank_0/graphs/ms_output_trace_code_graph_0.ir
show msdump find-op --line net.py:33 -d one,two
show msdump map-ir -d one -d two -q
show msdump map-ir -q -d one/rank_0/Net/0/0,one/rank_0/Net/0/1
show msdump map-ir -q --ir one/rank_0/graphs --ir one/rank_0/graphs/ms_output_trace_code_graph_0.ir --ir one/./rank_0/graphs/ms_output_trace_code_graph_0.ir
# A name as the files have it, and as the IR has it.
msdump find-op 'Default_Add-op0' -d one --jsonl -q | jq -c '[.op_name, .files[0].op_name]'
msdump find-op 'Default/Add-op7' -d one --jsonl -q | jq -c '[.op_name, .files[0].op_name]'
show msdump find-op 'Default_Add-op7' -d one
