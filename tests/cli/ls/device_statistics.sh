# Statistics that CANN writes on the device, a file for each operator, and those of msprobe's ATB dump.
for side in a b; do
  place=$side/20240102030405/0/model/1/3
  mkdir -p $place
  {
    echo 'Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,Positive Inf Count'
    echo 'Input,0,24,DT_FLOAT,ND,2x3,6,1,3.5,6,0,0,0'
    echo "Output,0,24,DT_FLOAT,ND,2x3,$([[ $side = a ]] && echo nan || echo 12),2,7,6,$([[ $side = a ]] && echo 1 || echo 0),0,0"
  } >$place/Mul.net_Mul_1.5.7.1700000000003000.csv
done
show msdump ls -d a
show msdump stats -d a
show msdump diff a b
show msdump check -d a
show msdump info a/20240102030405/0/model/1/3/Mul.net_Mul_1.5.7.1700000000003000.csv
run=c/atb_dump_data/data/0_39943/1
mkdir -p $run/5_Layer/0_Attention/before
# shellcheck disable=SC2016  # not variables
printf '$Version=1.0\n$Object.Count=1\n$Object.Length=4\nformat=2\ndtype=27\ndims=2\n$Object.data=0,4\n$End=1\n\x80\x3f\0\x40' >$run/5_Layer/0_Attention/before/intensor0.bin
{
  echo 'Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,Tensor Path'
  echo "0_39943,1,Layer/Attention,Attention,5_0,input,0,bf16,nd,2,2,1,1.5,2.236,/out/${run#c/}/5_Layer/0_Attention/before/intensor0.bin"
  echo '0_39943,1,Layer/Attention,Attention,5_0,output,0,bf16,nd,2,nan,1,1.5,2.236,N/A'
} >$run/statistic.csv
show msdump ls -d c
show msdump stats -d c
show msdump info $run/5_Layer/0_Attention/before/intensor0.bin --values
show msdump info c
