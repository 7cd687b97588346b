# What is typed wrong is said with what would be right.
cd "$TESTDATA/sample" || exit
show msdump stats --columns maxi
show msdump stats --columns max,,min
show msdump stats --colums max
show msdump stats --dialect 3
show msdump stats --dialect 1.2.0 --op-type Gather
show msdump stats --host-arch arm
show msdump stats --fail-on nans
show msdump stats --top none
show msdump stats --in-place -out x
show msdump stats --verify --in-place
show msdump stats --force
show msdump stats --op nothing
show msdump stats -d nowhere
show msdump stats --list-columns
