mkdir dump
show msdump convert -d dump -out out -f NCWH
show msdump convert -d dump -out out -f FRACTAL_NZ
show msdump convert -d dump -out out -t npz
show msdump convert -d dump -out out --naming mindspor
show msdump convert -d dump -out out --io inptu
show msdump convert -d dump -out out -s 1,x
show msdump convert -d dump -out out -j 0
show msdump convert -d dump -out out -j four
show msdump convert -d dmup -out out
show msdump convert -d dump,nowhere -out out
ls
