# The report does not depend on the number of threads.
for step in {0..40}; do
  mkdir -p "dump/rank_0/Net/0/$step"
  for n in 1 2 3; do : >"dump/rank_0/Net/0/$step/Add.a.0.0.173390544681979$n.output.$n.DefaultFormat.float32.npy"; done
done
msdump info -j 1 dump --json >one
for jobs in 2 7; do msdump info -j "$jobs" dump --json | cmp - one && echo "-j $jobs: the same"; done
