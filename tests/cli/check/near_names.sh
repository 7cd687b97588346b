# A name with a slip: the nearest operator, without its number.
npy Softmax.Default_Softmax-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x44\0\0\0\x40'
show msdump check --op Softmx
show msdump check --op 'Softmax-op1'
