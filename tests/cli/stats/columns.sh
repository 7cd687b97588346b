# Statistics are chosen by name, in any order and with blanks; what a table stores can be chosen as well.
mkdir dump
cat >dump/statistic.csv <<'CSV'
Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,Zero Count,L2Norm Value,MD5
Add,Default_Add-op1,1,2,17,output,0,40,float32,"[10]",7,-3,1.5,10,4,5,6,8,9,11,12.5,0cc175b9c0f1b6a831c399e269772661
CSV
all='max,min,avg,count,negative zero count,positive zero count,nan count,negative inf count,positive inf count,zero count,l2norm,md5'
msdump stats dump -q --jsonl --columns "$all" | jq -c 'del(.op_type, .op_name, .io, .slot, .shape, .dtype, .rank, .graph, .step)'
msdump stats dump -q --csv --columns ' l2norm , max,,min ' | tail -n 1
for columns in ',' ' ' maxx max,hush; do show msdump stats dump --columns "$columns"; done
