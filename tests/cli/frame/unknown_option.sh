# The unknown option is named even when something else is missing because of it.
mkdir dump
show msdump convert -d dump --ouput out
show msdump convert -d dump -ouput out
show msdump convert -d dump -outt out
show msdump convert -d dump -formt NCHW -out out
show msdump convert -d dump -out out -x
show msdump convert -d dump -out out --zzz=1
show msdump convert -d dump -t pdf --ouput out
ls
