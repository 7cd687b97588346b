# Configurations that work have no rows, whatever they are for.
data_dump >data_dump.json
echo '{"task": "statistics", "dump_path": "/home/user/dump", "step": [0, "2-5"], "statistics": {}}' >config.json
echo '{"dump": {"dump_path": "/home/user/dump", "dump_list": [], "dump_op_switch": "on"}}' >acl.json
show msdump check-config data_dump.json
show msdump check-config data_dump.json --framework-version 2.7.1 --device ascend
show msdump check-config config.json --framework pytorch
show msdump check-config acl.json
show msdump check-config data_dump.json config.json acl.json --csv
show msdump check-config data_dump.json --json
show msdump check-config data_dump.json -q
