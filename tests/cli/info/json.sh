# One document for machines: rows with a detail for each kind, a summary, and what could not be used.
npy_file a.npy '<f4' '(2,)' 0
printf '\000\000\200\177\000\000\000\077' >>a.npy
npy_file cut.npy '<f4' '(2,)' 3
mkdir -p dump/rank_0/Net/0/0
cp a.npy dump/rank_0/Net/0/0/Add.a.0.0.1733905446819790.output.0.DefaultFormat.float32.npy
msdump info -q a.npy --values --json
printf '\n'
msdump info -q dump cut.npy missing.npy --json
printf '\nexit %d\n' $?
msdump info -q a.npy --values 1 --jsonl
msdump info -q dump a.npy --csv
npy_file large.npy '<f2' '(2000000,)' 4000000
show msdump info -q large.npy --values --jsonl
