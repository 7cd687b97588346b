# Files that cannot be read are named, the others are counted all the same.
name() { echo "Add.Default_Add-op$1.0.0.170000000000000$1.output.0.DefaultFormat.npy"; }
npy "$(name 1)" '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
npy "$(name 2)" '<f4' '(2,)' '\0\0\x80\x3f'
npy "$(name 3)" '<f4' '(2,'
npy "$(name 4)" '<U3' '(1,)' 'a\0\0\0b\0\0\0c\0\0\0'
: >"$(name 5)"
printf 'no csv at all' >statistic.csv
show msdump stats --dialect 2.10.0 --columns max
msdump stats --dialect 2.10.0 --columns max --json -q 2>&- | jq -c '.summary, (.failures[] | [.path, .code])'
