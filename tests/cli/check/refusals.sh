# What does not go together.
mkdir dump
npy_file dump/a.npy '<f4' '(3,)' 12
show msdump check dump --trend --junit out.xml
show msdump check dump --trend --first
show msdump check dump --trend --rule nan
show msdump check dump --junit -
files .
