# Arrays in device format ("trans_flag": false): their original shapes come from statistic.csv, a graph or -s.
# What MindSpore writes: the device buffer, with the device shape and format in header and name.
name() { echo "dump/rank_0/Net/0/0/$1.Default_$1-op$2.$2.0.170000000000000$2.output.0.$3.npy"; }
numbers() { seq 1 "$1" | xargs printf '\\x%02x'; }
mkdir -p dump/rank_0/Net/0/0
npy "$(name MatMul 1 FRACTAL_NZ)" '<i1' '(2, 1, 4, 2)' "$(numbers 16)" # (3, 4) in blocks of 4 x 2: the fourth row is padding
npy "$(name Conv2D 2 NC1HWC0)" '<i1' '(1, 2, 1, 2, 2)' "$(numbers 8)"  # (1, 3, 1, 2): the fourth channel is padding
table=dump/rank_0/Net/0/0/statistic.csv
# convert OUT OPTION...: the messages, and the elements of each output.
convert() {
  local status=0 file
  msdump convert -d dump -out "$@" 2>&1 || status=$?
  [[ ! -d $1 ]] || find "$1" -name '*.npy' | LC_ALL=C sort | while read -r file; do
    echo "$file:$(tail -c +129 "$file" | od -An -tu1)"
  done
  return $status
}
convert bare -f NCHW
row() { echo "$1,Default_$1-op$2,$2,0,170000000000000$2,output,0,$3,int8,\"($4)\",1"; }
{
  echo 'Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value'
  row MatMul 1 12 3,4
  row Conv2D 2 6 1,3,1,2
} >$table
convert table -f NCHW
# The shape of the buffer says nothing; one that does not fit is not used, and told.
{
  head -n 1 $table
  row MatMul 1 16 2,1,4,2
  row Conv2D 2 6 1,5,1,2
} >other && mv other $table
convert refused -f NCHW
# The IR has the shapes.
mkdir dump/rank_0/graphs
cat >dump/rank_0/graphs/ms_output_trace_code_graph_0.ir <<'IR'
# IR entry: @kernel_graph0
# Total subgraphs: 1

# Total params: 1
# Params:
%para1_x: <Tensor[Int8], (3, 4)>

subgraph @kernel_graph0() {
  %0(CNode_0) = MatMul(%para1_x, %para1_x)
      : (<Tensor[Int8], (3, 4)>, <Tensor[Int8], (3, 4)>) -> (<Tensor[Int8], (3, 4)>)
      : (<Int8xFRACTAL_NZ[const vector][2, 1, 4, 2]>, <Int8xFRACTAL_NZ[const vector][2, 1, 4, 2]>) -> (<Int8xFRACTAL_NZ[const vector][2, 1, 4, 2]>)
      # Fullname with scope: (Default/MatMul-op1)
  %1(CNode_1) = Conv2D(%0)
      : (<Tensor[Int8], (3, 4)>) -> (<Tensor[Int8], (1, 3, 1, 2)>)
      : (<Int8xFRACTAL_NZ[const vector][2, 1, 4, 2]>) -> (<Int8xNC1HWC0[const vector][1, 2, 1, 2, 2]>)
      # Fullname with scope: (Default/Conv2D-op2)
}
IR
convert ir -f NCHW
mv dump/rank_0/graphs graphs
rm $table
convert named -f NCHW --ir graphs/ms_output_trace_code_graph_0.ir --dry-run
# The IR has another device shape: it is of another tensor.
sed 's/NC1HWC0.const vector.\[1, 2,/NC1HWC0[const vector][1, 3,/' graphs/ms_output_trace_code_graph_0.ir >other.ir
convert other -f NCHW --ir other.ir --op '*Conv2D*'
convert typed -f NCHW -s 3,4 --op '*MatMul*'
convert wrong -f NCHW -s 9,4 --op '*MatMul*' || echo "[exit $?]"
show msdump convert -d dump -out none -f NCHW --ir nowhere
show msdump convert -d dump -out none -f NCHW --ir "$(name Conv2D 2 NC1HWC0)"
# diff: the other side's shape.
mkdir host
npy "host/MatMul.Default_MatMul-op1.1.0.1700000000000001.output.0.DefaultFormat.npy" '<i1' '(3, 4)' '\x01\x02\x09\x0a\x03\x04\x0b\x0c\x05\x06\x0d\x0e'
npy "host/Conv2D.Default_Conv2D-op2.2.0.1700000000000002.output.0.DefaultFormat.npy" '<i1' '(1, 3, 1, 2)' '\x01\x03\x02\x04\x05\x08'
show msdump diff -q dump host --all
show msdump diff -q host dump --worst 1 --jsonl
npy "host/Conv2D.Default_Conv2D-op2.2.0.1700000000000002.output.0.DefaultFormat.npy" '<i1' '(1, 5, 1, 2)' '\1\2\3\4\5\6\7\x08\x09\x0a'
show msdump diff -q dump host --op '*Conv2D*'
