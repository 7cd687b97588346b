# Whatever else turns up in or beside a dump says what it is.
{
  echo 'Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value'
  echo 'Add,Default_Add-op0,0,0,1733905446819790,input,0,24,float32,"[2,3]",6,1,'
  echo 'rubbish'
} >statistic.csv
echo 'NodeExecutionOrder-FullNameWithScope
Default/Add-op0
Default/Mul-op1' >ms_execution_order_graph_0.csv
printf '0\n1\n' >ms_global_execution_order_graph_0.csv
echo '71502983415062987341509827364518,Add.x.1.2.1700000000000000' >mapping.csv
printf '# IR entry: @kernel_graph0\n# Total subgraphs: 1\n' >graph.ir
echo '{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": "", "data": {}}' >dump.json
echo '{"a": [], "b": []}' >stack.json
echo '{"common_dump_settings": {"net_name": "Net"}}' >data_dump.json
echo '{"x": 1}' >other.json
echo '{"transpose_a": "False"}' >MatMul.Default_MatMul-op2.json
echo '{,}' >broken.json
echo 'nothing of a dump' >strange
: >empty
mkfifo fifo
for file in statistic.csv ms_*.csv mapping.csv graph.ir dump.json stack.json data_dump.json other.json MatMul.*.json \
  broken.json strange empty fifo; do
  show msdump info -q "$file"
done
