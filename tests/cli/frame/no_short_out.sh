# -o means two things in this field; it is never guessed, and never a directory called "ut=x".
mkdir dump
show msdump convert -d dump -o 0
show msdump convert -d dump -o out
show msdump convert -d dump -o=out
show msdump convert -d dump -o0
show msdump convert -d dump -i 1 -out out
show msdump convert -d dump -c scripts -out out
show msdump convert -d dump -t pt -out out
ls
