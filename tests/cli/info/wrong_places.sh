# A missing path is 2, a damaged file 3, and neither ends the run; an empty folder is an answer.
mkdir empty
npy_file a.npy '<f4' '(2,)' 8
npy_file cut.npy '<f4' '(2,)' 3
show msdump info empty
show msdump info nowhere
show msdump info -q nowhere a.npy
show msdump info -q cut.npy a.npy
show msdump info -q cut.npy nowhere
show msdump info a.npz
show msdump info a.npy --valeus
show msdump info --slot 0 a.npy
printf 'a.npy\nnowhere\n' | show msdump info -q -
MSDUMP_DUMP=a.npy show msdump info -q
