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
cpus=$(msdump --version | sed -n 's/^cpu target:.*(available: \(.*\))$/\1/p' | tr -d ,)
echo "$cpus" | grep -o scalar
for form in --json --csv --all; do
  for jobs in 1 2 5; do
    for cpu in '' $cpus; do
      MSDUMP_CPU=$cpu msdump diff -q bad ref $form -j $jobs --worst 3 --by-axis --metrics kl 2>&1 | md5sum
    done
  done | sort -u | wc -l
done
msdump diff -q bad ref --jsonl | jq -c 'select(.op_type == "Cast") | [.verdict, .metrics.count, .metrics.max_abs]'

# Tables of both sides are read at once, and their rows compared in pieces; failures of both sides among them.
table() {
  mkdir -p "$1"
  awk -v scale="$2" -v bad="$3" 'BEGIN {
    print "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value"
    for (i = 0; i < 300; ++i)
      printf("Add,Default/Add-op%d,0,0,%d,output,0,%s,float32,\"(2)\",%g,-1,2\n",
             i, 17000 + i, i == bad ? "many" : "8", i % 7 == 0 ? scale * i : i)
  }' >"$1/statistic.csv"
}
for rank in 0 1 2; do
  table "many_ref/rank_$rank/Net/0/0" 1 $((rank * 90))
  table "many_bad/rank_$rank/Net/0/0" 1.5 $((rank * 90 + 7))
done
for form in --json --csv --all; do
  for jobs in 1 2 3 5; do
    msdump diff many_bad many_ref $form -j $jobs >out 2>err
    cat out err | md5sum
  done | sort -u | wc -l
done
msdump diff many_bad many_ref --csv -j 2 2>&1 >rows | sed 's/:.*statistic/: .. statistic/' | cut -c1-100
wc -l <rows
