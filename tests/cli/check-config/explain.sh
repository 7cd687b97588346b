# A key is explained by its name, its section or a glob, from the table that the lint uses.
show msdump check-config --explain saved_data
show msdump check-config --explain e2e_dump_settings.enable
show msdump check-config --explain 'rank*'
show msdump check-config --explain sampel_mode
show msdump check-config --explain ''
show msdump check-config --explain level data_dump.json
show msdump check-config --explain risk_level --json
msdump check-config --explain '*' --jsonl | jq -r .family | uniq -c
