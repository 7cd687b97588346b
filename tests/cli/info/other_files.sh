# What else belongs to the field is named, with what reads it: by its first bytes, else by its name.
mkdir -p tree/PROF_000001_20240101/device_0/data
printf 'SQLite format 3\0' >tree/run.trend.db
printf 'SQLite format 3\0' >tree/graph.vis.db
printf 'IMOD\0\1\0\0' >tree/model.om
printf '\x89HDF\r\n\x1a\n' >tree/weights
printf '\x18\0\0\0\0\0\0\0....\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2' >tree/events.out.tfevents.17.host
mkdir tree/kernel_meta
echo '[{"name": "a", "ph": "X", "pid": 1, "ts": "3"}]' >tree/timeline.json
for name in kernel_meta/Add_0123.json op_statistic.csv fusion_result.json result_20260801120000.csv plog-17_20260801.log \
  dynamo_original_graph_0.py health_result.txt; do echo x >tree/$name; done
for name in model.mindir model.air model.onnx graph.dot; do echo x >tree/$name; done
echo x >tree/PROF_000001_20240101/device_0/data/aicore.data.0.slice_0
show msdump info tree
for file in tree/*.* tree/weights; do show msdump info -q "$file"; done 2>&1 | grep -v '^ '
msdump info tree --json | jq -c '.rows[0].detail.kinds, .rows[0].detail.not_understood_count'
