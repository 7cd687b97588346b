# Statistics without tensors prove a join, too; a file that cannot be read is named, and belongs to its operator still.
mkdir -p dump/rank_0/{Net/0/0,graphs} cut/rank_0/{Net/0/0,graphs}
{
  ir_node 0 Add %para1_x Default/Add-op1 12
  ir_node 1 Mul %0 Default/Mul-op2 13
} | ir_graph | tee cut/rank_0/graphs/ms_output_trace_code_graph_0.ir >dump/rank_0/graphs/ms_output_trace_code_graph_0.ir
cat >dump/rank_0/Net/0/0/statistic.csv <<'END'
Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value
Add,Default_Add-op1,0,0,1700000000000001,input,0,8,float32,"(2)",1,0,1.5
Add,Default_Add-op1,0,0,1700000000000001,output,0,8,float32,"(2)",2,0,2.5
Mul,Default_Mul-op2,0,0,1700000000000002,input,0,8,float32,"(2)",2,0,2.5
Mul,Default_Mul-op2,0,0,1700000000000002,output,0,8,float32,"(2)",4,0,3.5
END
show msdump map-ir -d dump --prove
msdump find-op --line net.py:12 -d dump --io output --jsonl | jq -c '.files[] | [.path, .io, .slot, .shape]'
two_floats cut/rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000000.output.0.DefaultFormat.npy '\0\0\0\0'
two_floats cut/rank_0/Net/0/0/Mul.Default_Mul-op2.0.0.1700000000000001.output.0.DefaultFormat.npy
show msdump find-op --line net.py:12 -d cut
show msdump map-ir -d cut
msdump map-ir -d cut --json -q 2>/dev/null | jq -c '.summary, .failures[].code, (.rows[] | [.op_name, (.files | length)])'
# A line, and a script, that are not there; the whole is read for it.
show msdump find-op --line net.py:40 --ir cut/rank_0/graphs
show msdump find-op --line mynet.py:12 --ir cut/rank_0/graphs
# A reader that goes.
msdump map-ir -d dump --jsonl -q | head -c 20
echo " [exit ${PIPESTATUS[0]}]"
