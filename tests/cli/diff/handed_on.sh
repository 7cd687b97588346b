# A value that changes between the operator that wrote it and the one that reads it: by 2 of 16 elements, within the tolerance.
mul_net ref chain 0
mul_net wrong chain 0
values=(-1 1.125 1.25 -1.375 1.5 1.625 -1.75 1.875 2 -2.125 2.25 2.375 -2.5 2.625 2.7501 -2.8751)
for number in {6..11}; do
  dumped wrong "Mul.Default_Mul-op$number" $((10 + number)) input.0 "${values[@]}"
  dumped wrong "Mul.Default_Mul-op$number" $((10 + number)) output.0 "${values[@]}"
done
show msdump diff wrong ref
msdump diff wrong ref --json -q | jq -c '.first_divergence[] | [.op_name, .kind, .decided_by, .confidence]'
show msdump diff wrong ref --explain Mul-op6
