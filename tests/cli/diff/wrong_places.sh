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
# Two folders that have nothing of a dump, and a file that cannot be read.
mkdir other none
echo >other/a.conf
echo >none/b.conf
ln -s nowhere other/c.conf
show msdump diff other none
# One array, which is no dump.
npy_file one.npy '<f4' '(2,)' 8
msdump diff one.npy ref 2>&1 | head -n 2
msdump diff ref one.npy 2>&1 | head -n 2
