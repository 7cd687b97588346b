# Tasks that only some releases of msprobe have, and keys that only old ones read.
task() { printf '{"task": "%s", "dump_path": "/d", "seed": 1, "%s": {}}\n' "$1" "$1" >config.json; }
task free_benchmark
show msdump check-config config.json
show msdump check-config config.json --msprobe-version 8.3.3
show msdump check-config config.json --msprobe-version 26.1 -q
task overflow_check
show msdump check-config config.json --msprobe-version 26.0 -q
task nan_check
show msdump check-config config.json --msprobe-version v26.0.0 --framework pytorch --device ascend -q
show msdump check-config config.json --msprobe-version 27 --framework pytorch --device ascend
for release in 1.0 0.9 x; do show msdump check-config config.json --msprobe-version "$release" -q; done
data_dump >data_dump.json
show msdump check-config data_dump.json --msprobe-version 8.3
