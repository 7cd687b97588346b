# The soft limit of open files is raised to the hard one: six are too few to walk the tree.
# documents: not checked
(ulimit -S -n 6 && msdump stats -d "$TESTDATA/sample" -q -j 8 | wc -l)
