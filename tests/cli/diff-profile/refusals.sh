# What does not go with a profile, or only with one.
npy a.npy '<f4' '(1,)' '\0\0\200?'
mkdir -p two/0 two/1 bare
cp a.npy two/0
cp a.npy two/1
show msdump diff a.npy a.npy --profile msacucmp
show msdump diff a.npy a.npy --profile msprobe:pandas3
show msdump diff a.npy a.npy --profile msaccucmp --json
show msdump diff a.npy a.npy --profile msaccucmp --jsonl
show msdump diff a.npy a.npy --profile msaccucmp --rtol 1e-3
show msdump diff a.npy a.npy --profile msaccucmp --worst 3
show msdump diff a.npy a.npy --profile msaccucmp --fuzzy
show msdump diff a.npy a.npy --profile msaccucmp --map cell
show msdump diff a.npy a.npy --profile msaccucmp --slot 0
show msdump diff a.npy a.npy --profile msprobe --op x
show msdump diff a.npy a.npy --profile msprobe
show msdump diff a.npy a.npy -out x
show msdump diff a.npy a.npy --fuzzy
show msdump diff a.npy two --profile msaccucmp
show msdump diff a.npy bare --profile msaccucmp
show msdump diff a.npy missing --profile msaccucmp
show msdump diff a.npy a.npy --profile msaccucmp -out a.npy
