# Two dumps whose files would become the same file are refused before anything is written.
mkdir a b
dump_file a/Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
dump_file b/Relu.a.1.7.1700000000000001 3 '1 1 2 2 16' '1 5 2 2'
show msdump convert -d a,b -out npy -f NCHW
show msdump convert -d a -d a -out npy -f NCHW
ls
