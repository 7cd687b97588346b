# Neither the number of threads nor the CPU's instruction set shows in the result.
for i in 1 2 3; do
  head -c 600000 /dev/zero | tr '\0' "\\$((i + 140))" >data
  npy "Mul.Default_Mul-op$i.0.0.170000000000000$i.output.0.DefaultFormat.npy" '<f4' '(150000,)'
  cat data >>"Mul.Default_Mul-op$i.0.0.170000000000000$i.output.0.DefaultFormat.npy"
done
cpus=$(msdump --version | sed -n 's/^cpu target:.*(available: \(.*\))$/\1/p' | tr -d ,)
echo "$cpus" | grep -o scalar
columns='max,min,avg,count,zero count,l2norm,md5,hash'
for dialect in 1.8.1 2.2.14 2.3.0 2.4.0 2.5.0 2.10.0; do
  for jobs in 1 2 5; do
    for cpu in $cpus; do
      MSDUMP_CPU=$cpu msdump stats -q -j "$jobs" --dialect "$dialect" --columns "$columns" --csv 2>&1 | md5sum
    done
  done | sort -u | wc -l
done
