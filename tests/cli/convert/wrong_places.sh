# Where nothing can be converted, that is said, with exit code 2; a selection without a match is 1.
mkdir empty other
ln -s "$TESTDATA/sample" sample
echo '{}' >other/config.json
echo 'just text, no dump' >other/notes
show msdump convert -d empty -out npy
show msdump convert -d other -out npy
show msdump convert -d other/notes -out npy
show msdump convert -d nowhere -out npy
show msdump convert -d sample -out npy --op 'NoSuchOp*'
show msdump convert -d sample -out npy --op-type Conv2D --slot 7
show msdump convert -d sample -out npy --step 5-
show msdump convert -d sample -out other/notes
touch file
show msdump convert -d sample -out file/npy
ls
