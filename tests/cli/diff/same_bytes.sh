# The number of threads and the instruction set of the CPU do not show, in no form of output.
scaled_net ref
scaled_net bad 1.7 0.1
for one in 1 2 3; do
  for side in ref bad; do
    name=$side/rank_0/Net/0/0/Cast.Default_Cast-op$one.0.0.170000000000001$one.output.0.DefaultFormat.Float16.npy
    npy "$name" '<f2' '(70000,)'
    head -c 140000 /dev/zero | tr '\0' "\\$((one + 40))" >>"$name"
  done
  truncate -s -2 "$name"
  printf '\1\44' >>"$name"
done
for form in --json --csv --all; do
  for jobs in 1 2 5; do
    for cpu in '' scalar ssse3 sse4 avx2 avx3; do
      MSDUMP_CPU=$cpu msdump diff -q bad ref $form -j $jobs --worst 3 --by-axis --metrics kl 2>&1 | md5sum
    done
  done | sort -u | wc -l
done
msdump diff -q bad ref --jsonl | jq -c 'select(.op_type == "Cast") | [.verdict, .metrics.count, .metrics.max_abs]'
