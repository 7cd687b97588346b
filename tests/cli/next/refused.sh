# What next cannot do it says; a case that was damaged is named.
masked() { show "$@" | sed "s|$PWD|PWD|"; }
mkdir -p dump empty damaged
masked msdump next -d dump
masked msdump next -d dump --ref missing
masked msdump next -d missing --ref dump
masked msdump next -d dump --ref dump
masked msdump next dump empty --ref dump
echo '{"format": 2, "rounds": []}' >damaged/case.json
masked msdump next -d damaged
echo '{"format": 1, "rounds": []}' >damaged/case.json
masked msdump next -d damaged
echo '{"format": 1, "rounds": [{' >damaged/case.json
masked msdump next -d damaged
echo '{"format": 1, "rounds": [{"candidate": "/no/such", "reference": "/no/such"}]}' >damaged/case.json
masked msdump next -d damaged
masked msdump next -d damaged --ref dump
echo '{"task": 1}' >config.json
masked msdump next -d dump --ref dump --config config.json
echo '[]' >config.json
masked msdump next -d dump --ref dump --config config.json
masked msdump next -d dump --ref dump --framework-version 2.x
