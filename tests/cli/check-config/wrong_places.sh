# What cannot be a configuration is named, and the others are judged.
data_dump >data_dump.json
mkdir folder
show msdump check-config
show msdump check-config nothing.json data_dump.jsn folder data_dump.json
show msdump check-config data_dump.json --framework-version next
show msdump check-config data_dump.json --framework-version 0.5
show msdump check-config data_dump.json --framework-version 3.1
# A release has more spellings than its numbers; what is judged as another says so.
for version in v2.7 2.7.post1 2.3.0rc1 3.0.0rc1 2.7.0+cpu 2.7x 2..7; do
  show msdump check-config data_dump.json --framework-version $version
done
show msdump check-config data_dump.json --device npu
show msdump check-config data_dump.json --framework torch
show msdump check-config data_dump.json --frame pytorch
show msdump check-config data_dump.json --framework pytorch
show msdump check-config data_dump.json --json --csv
truncate -s 5M large.json
show msdump check-config large.json
echo data_dump.json | show msdump check-config -
MINDSPORE_DUMP_CONFIG=data_dump.json show msdump check-config
MINDSPORE_DUMP_CONFIG=gone.json show msdump check-config
# An empty path is what the variable makes of it.
sed -i 's,"/home/user/dump","",' data_dump.json
show msdump check-config data_dump.json --framework-version 2.7
MS_DIAGNOSTIC_DATA_PATH=/home/user show msdump check-config data_dump.json --framework-version 2.7
