# What next cannot do it says; a case that was damaged is named.
masked() { show "$@" | sed "s|$PWD|PWD|g"; }
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
masked msdump next -d damaged -out other
masked msdump next -d damaged --config missing.json
masked msdump next -d dump --config missing.json
echo '{"task": 1}' >config.json
masked msdump next -d dump --ref dump --config config.json
echo '[]' >config.json
masked msdump next -d dump --ref dump --config config.json
masked msdump next -d dump --ref dump --framework-version 2.x
# A reference of another network, and a part of the dump that cannot be read.
mkdir -p a/rank_0/Net/0/0 b/rank_0/Net/0/0
npy a/rank_0/Net/0/0/Log.Default_Log-op2.2.1.20000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 nan 1)"
npy a/rank_0/Net/0/0/Abs.Default_Abs-op4.3.1.20001.output.0.DefaultFormat.npy '<f4' '(3,)' "$(f32 1 1 1)"
npy b/rank_0/Net/0/0/Exp.Default_Exp-op5.2.1.20000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 2 1)"
masked msdump next -d a --ref b
echo damaged >b/rank_0/Net/0/0/Neg.Default_Neg-op6.2.1.20000.output.0.DefaultFormat.npy
masked msdump next -d b
cp -r b c && rm c/*/*/*/*/Neg*
masked msdump next -d b --ref c
msdump next -d b -q --json 2>/dev/null | jq -c '[.state, .dumps, .rows, .summary], [.failures[] | keys]' | sed "s|$PWD|PWD|g"
