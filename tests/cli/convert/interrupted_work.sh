# Whatever ends a run in the middle of a large tensor, nothing stands under a final name that is not complete; SIGINT and
# SIGTERM leave nothing else either, and the next run does the work.
mkdir dump
dump_file dump/Relu.large.1.7.1700000000000001 3 '16 64 256 256 16' '16 1024 256 256'
for signal in INT TERM KILL; do
  rm -rf npy
  env --default-signal=INT msdump convert -q -j 1 -d dump -out npy -f NCHW &
  # The temporary file shows that the writing has begun.
  until compgen -G 'npy/.msdump-*.tmp' >/dev/null; do sleep 0.01; done
  kill -s "$signal" $!
  wait $! 2>/dev/null
  echo "$signal: $?, $(find npy -name '*.npy' | wc -l) arrays"
  [[ $signal == KILL ]] || files npy
done
rm -rf npy dump
