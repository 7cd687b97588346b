# Findings as JUnit XML: a case for each rule and group of operators.
npy Log.Default_Log-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\xc0\x7f\0\0\0\x40'
npy Mul.Default_Mul-op2.0.0.1700000000000002.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
show msdump check --rule none --rule nan --rule inf --rule too_large:max_gt=1.5 --rule unreadable --junit check.xml -q
cat check.xml
show msdump check --junit none/check.xml -q --rule none --rule inf
