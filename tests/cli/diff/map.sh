# The user's word for names that tell nothing.
dumped bad Mul.Default_scale-op0 1 output.0 1 2 3
dumped bad Add.Default_shift-op0 2 output.0 4 5 6
dumped ref Dot.Default_factor-op0 1 output.0 1 2 3
dumped ref Sum.Default_offset-op0 2 output.0 4 5 6
show msdump diff bad ref
printf 'Default/scale-op0,Default/factor-op0\nDefault/shift-op0,Default/offset-op0\n' >names.csv
show msdump diff bad ref --map names.csv --all
msdump diff -q bad ref --map names.csv --jsonl | jq -c '[.op_name, .b.op_name, .paired_by, .verdict]'
printf 'Default/scal-op0,Default/factor-op0\n' >misspelt.csv
show msdump diff -q bad ref --map misspelt.csv
printf 'one column\n' >broken.csv
show msdump diff -q bad ref --map broken.csv
show msdump diff -q bad ref --map missing.csv
