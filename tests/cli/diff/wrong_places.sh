# What is not there, and what is not two dumps.
scaled_net ref
mkdir empty
show msdump diff
show msdump diff ref ref ref
show msdump diff ref missing
show msdump diff missing ref
show msdump diff missing gone -j 1
show msdump diff missing gone -j 2
show msdump diff ref empty
show msdump diff empty ref
show msdump diff ref ref --op nothing
show msdump diff ref ref --ir missing.ir
msdump diff ref missing --json
echo "exit $?"
