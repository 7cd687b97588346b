# Tables of msprobe's monitor are statistics step by step.
rank=Nov23_15-50-51-rank0-04eb6adc
mkdir -p "a/$rank" "b/$rank"
head='vpp_stage,name,step,norm,max,nans,shape'
printf '%s\n' "$head" '0,fc.weight,0,2.5,1.5,0,"[2, 3]"' '0,fc.bias,0,0.5,0.25,0,[3]' '0,fc.weight,1,3.5,1.75,0,"[2, 3]"' \
  '0,fc.bias,1,nan,nan,nan,nan' >"a/$rank/grad_reduced_0-1.csv"
printf '%s\n' "$head" '0,fc.weight,2,nan,nan,6,"[2, 3]"' >"a/$rank/grad_reduced_2-3.csv"
printf '%s\n' "$head" '0,fc.weight,0,9,4,0,"[2, 3]"' '0,fc.weight,1,9.5,4.5,0,"[2, 3]"' >"a/$rank/param_origin_0-1.csv"
show msdump ls a
show msdump ls a --step 1
show msdump check a --trend
show msdump check a --trend --op-type grad_reduced --csv
show msdump check a
cp -r a/. b
sed -i 's/,3.5,1.75/,30.5,17.5/' "b/$rank/grad_reduced_0-1.csv"
show msdump diff b a --csv --op '*weight' 2>&1 | grep -E 'differ|compared|exit'
show msdump info a
show msdump info "a/$rank/grad_reduced_2-3.csv"
