# The lists are reports like all others.
msdump convert --list-formats | head -n 4
msdump convert --list-formats --csv | head -n 2
msdump convert --list-dtypes --jsonl | head -n 2
msdump convert --list-dtypes --json | head -n 1
