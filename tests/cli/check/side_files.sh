# A file of rules that is too large or not text is refused as any wrong argument is, and no document is begun.
npy Mul.Default_Mul-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x44\0\0\0\x40'
yes nan | head -c 2000000 >big.txt
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >binary.txt
show msdump check --json --rules big.txt
show msdump check --json --rules binary.txt
show msdump check --json --rules none.txt
