# Of a dump of statistics alone nothing can be computed; complex numbers and texts have no statistics.
mkdir table
cat >table/statistic.csv <<'CSV'
Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value
Add,Default_Add-op1,1,2,17,output,0,40,float32,"[10]",7
CSV
for option in '-out out' --in-place --verify '--top 3'; do
  # shellcheck disable=SC2086  # an option and its value
  show msdump stats table $option
done
npy_file complex.npy '<c8' '(2,)' 16
show msdump stats complex.npy --jsonl
