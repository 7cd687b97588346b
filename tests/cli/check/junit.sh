# Findings as JUnit XML: a case for each rule and group of operators.
npy Log.Default_Log-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\xc0\x7f\0\0\0\x40'
npy Mul.Default_Mul-op2.0.0.1700000000000002.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
show msdump check --rule none --rule nan --rule inf --rule too_large:max_gt=1.5 --rule unreadable --junit check.xml -q
cat check.xml
show msdump check --junit none/check.xml -q --rule none --rule inf
# What the user names may be a link, or no regular file.
touch target.xml && ln -s target.xml link.xml
msdump check -q --junit link.xml >/dev/null
test -L link.xml && grep -c '<testsuite ' target.xml
msdump check -q --junit /dev/stdout --rule none --rule nan | grep -c '</testsuites>'
msdump check -q --junit /dev/null >/dev/null; test -c /dev/null && echo '/dev/null is a device'
show msdump check --junit -
show msdump check --trend --rule nan
