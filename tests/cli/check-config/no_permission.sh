# A configuration that is there and may not be read is an input that failed, and not the only one.
data_dump >data_dump.json
cp data_dump.json closed.json
mkdir folder
cp data_dump.json folder/
chmod 000 closed.json folder
# root without the capability that lets it read everything is a user like any other.
drop() { if ((EUID == 0)); then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
show drop msdump check-config closed.json
show drop msdump check-config closed.json data_dump.json folder/data_dump.json
show drop msdump check-config closed.json gone.json
drop msdump check-config closed.json --json 2>/dev/null | jq -c '.failures[] | .path, .code'
