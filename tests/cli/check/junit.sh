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
# Of --first: the rules that it judged; an input that could not be read; a first operator whose tensor was not chosen.
truncate -s 20 Mul.Default_Mul-op2.0.0.1700000000000002.output.0.DefaultFormat.npy
msdump check --first --rule none --rule inf --rule saturation --junit first.xml -q 2>/dev/null >&2 || echo "exit $?"
grep '<testcase\|<failure\|<error' first.xml
npy Max.Default_Max-op3.0.0.1700000000000003.input.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\xc0\x7f\0\0\0\x40'
npy Max.Default_Max-op3.0.0.1700000000000003.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\0\x40\0\0\0\x40'
for only in '' --first; do
  msdump check $only --op '*Max*' --io output --rule none --rule nan --junit first.xml -q --csv 2>/dev/null || echo "exit $?"
  grep '<testcase\|<failure\|<error' first.xml
done
msdump check --op nosuch --junit none.xml -q 2>/dev/null || echo "exit $?"
grep '<testsuites\|<testcase\|<error' none.xml
# Without a dump the files say so: those of the night before would be taken for the answer.
show msdump check -q -d missing --junit check.xml --summary check.md
cat check.xml check.md
