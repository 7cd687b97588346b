# One array: of a dump, of anybody, damaged, and of a dtype that numpy cannot read.
name=Add.Default_Add-op1.0.0.1733905446819790.output.0.DefaultFormat
npy_file "$name.float32.npy" '<f4' '(2, 3)' 24
npy_file "$name.bfloat16.npy" '<E2' '(2, 3)' 12
npy_file mine.npy '>i8' '()' 8
npy_file cut.npy '<f2' '(1000,)' 100
echo text >text.npy
for file in "$name.float32.npy" "$name.bfloat16.npy" mine.npy cut.npy text.npy; do show msdump info "$file"; done
