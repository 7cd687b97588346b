# The soft limit of open files is raised to the hard one: threads keep several files open each.
(ulimit -S -n 8 && msdump stats -d "$TESTDATA/sample" -q -j 8 | wc -l)
