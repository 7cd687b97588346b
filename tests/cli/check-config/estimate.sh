# How much a step would write, from the IR of an earlier run.
ir=$TESTDATA/sample/rank_0/graphs
cp -r "$ir" graphs
data_dump >data_dump.json
show msdump check-config data_dump.json --framework-version 2.0 --device ascend --estimate graphs
show msdump check-config data_dump.json --framework-version 2.0 --device cpu --estimate graphs -q
sed -e 's/"input_output": 0/"input_output": 2/' -e 's/"dump_mode": 0/"dump_mode": 1/' \
  -e 's/"kernels": \[\]/"kernels": ["matmul", "Conv3D"]/' -e 's/"0|5-8"/"all"/' data_dump.json >kernels.json
show msdump check-config kernels.json --framework-version 2.0 --device cpu --estimate graphs
msdump check-config kernels.json --framework-version 2.0 --device cpu --estimate graphs --json -q | jq -c .estimate
# An item that repeats another chooses something, too; one that does not is shown whole.
long=Default/network-TrainOneStepCell/network-WithLossCell/_backbone-AlexNet/fc1-Dense
sed -e 's,"matmul".*"Conv3D",'"\"MatMul\"\, \"matmul\"\, \"$long/MatMul-op1\"\, \"$long/MatMul-op2\"," kernels.json >twice.json
show msdump check-config twice.json --framework-version 2.0 --device cpu --estimate graphs -q
data_dump '"saved_data": "full"' >full.json
show msdump check-config full.json --framework-version 2.7 --device ascend --estimate 'graphs/*.ir'
# What is refused writes nothing: the size is what it would be. Where another device refuses it, it is written.
data_dump '"saved_data": "statistic"' >statistic.json
show msdump check-config statistic.json --framework-version 2.7 --device cpu --estimate graphs -q
msdump check-config statistic.json --framework-version 2.7 --device cpu --estimate graphs --json -q | jq -c '.estimate[] | .refused, .bytes'
show msdump check-config statistic.json --framework-version 2.7 --estimate graphs -q
data_dump '"overflow_number": 1' >overflow.json
show msdump check-config overflow.json --estimate graphs -q
data_dump '"op_debug_mode": 4' >exceptions.json
show msdump check-config exceptions.json --framework-version 2.10 --device cpu --estimate graphs -q
echo '{"task": "tensor", "dump_path": "/d"}' >config.json
show msdump check-config config.json --estimate graphs
show msdump check-config data_dump.json --estimate nowhere
mkdir empty
show msdump check-config data_dump.json --estimate empty
