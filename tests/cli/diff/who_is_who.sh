# The first line says which side is which; a reference that is coarser than the candidate looks swapped. Equal elements in
# another shape are counted, elements that are not finite stand in the place of an error of 0.
mkdir npu cpu
npy npu/Mul.Default_Mul-op0.0.0.1700000000000001.output.0.DefaultFormat.Float16.npy '<f2' '(1, 2)' '\0\x3c\0\x40'
npy cpu/Mul.Default_Mul-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
npy npu/Mul.Default_Mul-op1.0.0.1700000000000002.output.0.DefaultFormat.Float16.npy '<f2' '(2, 3)' '\0\x7c\0\x3c\0\x3c\0\x3c\0\x3c\0\x3c'
npy cpu/Mul.Default_Mul-op1.0.0.1700000000000002.output.0.DefaultFormat.Float32.npy '<f4' '(2, 3)' '\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f'
show msdump diff npu cpu --all
show msdump diff cpu npu
msdump diff -q npu cpu --json | jq -c '.summary.reshaped, [.rows[] | [.verdict, .nonfinite, .a.shape, .b.shape]]'
msdump diff -q npu cpu --report page.html >/dev/null || true
grep -c 'nan (1 of 6)' page.html
