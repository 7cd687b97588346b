# Result files of msprobe's compare (26.2) are no dumps: they are recognised, and what takes dumps refuses them and says why.
titles='NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU Requires_grad,Bench Requires_grad'
titles+=',Cosine,EucDist,MaxAbsErr,MaxRelativeErr,Requires_grad Consistent,Result,Err_message'
row() { printf '%s,%s,torch.float32,torch.float32,"[2, 3]","[2, 3]",False,False,%s,0.1,0.1,0.1,True,%s,%s\n' "$1" "$1" "$2" "$3" "$4"; }
for side in a b; do
  mkdir $side
  for name in compare_result_20261128112233 compare_result_rank0-rank0_20261128112233 debug_compare_result_20261128112233; do
    {
      echo "$titles"
      row Functional.relu.0.forward.input.0 1.0 pass ''
      row Functional.relu.0.forward.output.0 0.5 error 'Cosine is less than 0.9'
    } >$side/$name.csv
  done
done
show msdump info a
show msdump info a/debug_compare_result_20261128112233.csv
show msdump diff a b
show msdump diff a/compare_result_20261128112233.csv b/compare_result_20261128112233.csv
show msdump check a
