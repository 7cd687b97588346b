# Findings are printed with line and column, as a compiler does, or as rows.
data_dump '"saved_data": "statistic",
    "sample_mode": 1,
    "op_debug_mod": 3' '"stat_calc_mode": "devise"' >data_dump.json
sed -i 's,"/home/user/dump","~/dump",; s,"0|5-8","0|5-",' data_dump.json
show msdump check-config data_dump.json
show msdump check-config data_dump.json --framework-version 2.7 --device ascend
show msdump check-config data_dump.json --framework-version 2.7 --csv -q
msdump check-config data_dump.json --json -q | jq -c '.summary, .estimate, .rows[0]'
msdump check-config data_dump.json --jsonl -q | jq -r 'select(.severity == "error") | "\(.line):\(.column) \(.key)"'
msdump check-config data_dump.json -q | head -n 1
# The same file is an error for one and a warning for others.
data_dump '"saved_data": "statistic"' >statistic.json
for device in cpu gpu ascend; do show msdump check-config statistic.json --framework-version 2.7 --device $device; done
