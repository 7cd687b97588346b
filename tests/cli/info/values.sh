# Elements as numpy prints them, whole and in part; what is no part of the array is said with its shape.
npy_file a.npy '|i1' '(2, 3)' 0
printf '\001\002\375\004\005\006' >>a.npy
npy_file f.npy '<f4' '(4,)' 0
printf '\000\000\200\177\000\000\300\177\000\000\200\277\000\000\000\200' >>f.npy
npy_file large.npy '<i2' '(2000000,)' 4000000
dump_file Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
show msdump info -q --values a.npy
show msdump info -q a.npy --values 1,::2
show msdump info -q a.npy --values -1,...
show msdump info -q f.npy --values
show msdump info -q large.npy --values
show msdump info -q Relu.a.1.7.1700000000000001 --values '0,:2'
show msdump info -q a.npy --values 2
show msdump info -q a.npy --values 0,0,0
show msdump info -q a.npy --values ::0
show msdump info -q a.npy --values 1:x
show msdump info -q a.npy --io output
show msdump info -q Relu.a.1.7.1700000000000001 --values --io input
show msdump info -q . --values
echo text >notes.txt
show msdump info -q notes.txt --values
