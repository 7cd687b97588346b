mkdir dump
show msdump convert -d dump
show msdump convert -d dump -out
show msdump convert -d dump -out a --out b
show msdump convert -d dump -out a --json --csv
show msdump convert - -d - -out a
ls
