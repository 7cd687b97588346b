# Two files are compared as one tensor, whatever they are called; a difference is looked at element by element.
npy a.npy '<f4' '(2, 3)' "$(f32 1.25 2 3 4 5 6.5)"
npy b.npy '<f4' '(2, 3)' "$(f32 1 2 3 4 5 6)"
npy near.npy '<f4' '(2, 3)' "$(f32 1 2 3 4 5 6.0001)"
npy flat.npy '<f4' '(6,)' "$(f32 1 2 3 4 5 6)"
npy ints.npy '<i4' '(2, 3)' '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0'
npy nan.npy '<f4' '(2, 3)' "$(f32 1 nan 3 4 -inf 6)"
npy none.npy '<f4' '(0, 3)'
show msdump diff a.npy b.npy
show msdump diff none.npy none.npy
both() {
  local status=0
  msdump diff -q "$1" "$2" >rows || status=$?
  echo "$1 $2: $status, $(head -n 1 rows), $(grep worst rows)"
}
both near.npy b.npy
both flat.npy b.npy
both ints.npy b.npy
both nan.npy b.npy
both nan.npy nan.npy
msdump diff -q a.npy b.npy --worst 5 --by-axis | sed -n '/^$/,$p'
msdump diff -q a.npy b.npy --json --worst 1 --by-axis | jq -c '.rows[] | .verdict, .worst, .worst_elements, .axes'
msdump diff -q a.npy b.npy --json | jq '.rows[].metrics.kl'
msdump diff -q a.npy b.npy --json --metrics kl | jq '.rows[].metrics.kl > 0'
show msdump diff a.npy b.npy --metrics cosine
show msdump diff a.npy b.npy --metrics klo
show msdump diff a.npy b.npy --worst 0

# NaN on one side: the metrics are of the other elements, and say so.
npy nan.npy '<f4' '(3,)' "$(f32 1 nan 3)"
npy whole.npy '<f4' '(3,)' "$(f32 1 2 3)"
msdump diff nan.npy whole.npy 2>/dev/null | head -n 4
# In JSON, too, and no error is known there: also in the evidence of a cause.
msdump diff -q nan.npy whole.npy --json | jq -c '.rows[] | .metrics.count, .metrics.relative_l2, .nonfinite, [.measured_error, .expected_error, .score]'
scaled_net good
scaled_net bad
dumped bad Mul.Default_Mul-op0 1 output.0 2 -4 nan 8
dumped bad Add.Default_Add-op0 2 input.0 2 -4 nan 8
dumped bad Add.Default_Add-op0 2 output.0 3 -6 nan 12
dumped bad ReLU.Default_ReLU-op0 3 input.0 3 -6 nan 12
dumped bad ReLU.Default_ReLU-op0 3 output.0 3 0 nan 12
msdump diff -q bad good --json | jq -c '.first_divergence[] | .op_name, .evidence.inputs, .evidence.outputs'
