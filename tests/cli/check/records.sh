# Overflow records: those of the selected steps, and of a dump that has nothing else.
mkdir -p rank_0/Net/0/0 rank_0/Net/0/1
for step in 0 1; do
  two_floats "rank_0/Net/0/$step/Mul.Default_Mul-op1.57.7.1700000000000001.output.0.DefaultFormat.npy" \
    "\\0\\0\\x80\\x3f\\0\\0\\0\\x4$step"
  echo '{"AI Core":{"status":32,"task_id":57,"stream_id":7}}' \
    >"rank_0/Net/0/$step/Opdebug.Node_OpDebug.9.9.1700000000000002.output.0.json"
done
show msdump check -q --step 1
rm rank_0/Net/0/*/Mul*
show msdump check -q
