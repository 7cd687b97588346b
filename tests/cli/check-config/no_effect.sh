# Options without effect on a file are said so.
data_dump >data_dump.json
echo '{"task": "statistics", "dump_path": "/home/user/dump", "step": [0, "2-5"], "statistics": {}}' >config.json
show msdump check-config config.json --framework-version 2.7
show msdump check-config data_dump.json --framework pytorch
show msdump check-config data_dump.json config.json --framework-version 2.7 --framework mindspore -q
