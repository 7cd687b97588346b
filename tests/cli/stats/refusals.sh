# What does not go together is said before anything is computed, and nothing is written.
mkdir -p one two
npy_file one/a.npy '<f4' '(3,)' 12
npy_file two/a.npy '<f4' '(3,)' 12
show msdump stats one --verify --exact
show msdump stats one --verify -out out
show msdump stats one --out out --in-place
show msdump stats one --force
show msdump stats one --top 3 -out out
show msdump stats one --top 3 --verify
show msdump stats one --top 3 --csv --dialect auto
show msdump stats one -out out --json
show msdump stats one --in-place --csv
show msdump stats one/a.npy --in-place -q
show msdump stats one two -out out -q
files .
