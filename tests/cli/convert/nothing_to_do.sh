# Arrays that numpy can read stay where they are, and this is said.
mkdir dump
npy_file dump/Add.a.1.2.1700000000000001.output.0.ND.npy '<f4' '(3,)' 12
show msdump convert -d dump -out out
show msdump convert -d dump -out out -f NHWC
files .
