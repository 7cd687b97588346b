# --ir gives the lines of the script, and a case keeps where it lies.
masked() { show "$@" | sed "s|$PWD|PWD|g"; }
lines() { jq -c '[.pinned[] | [.op_name, .source.line]]'; }
scaled_net ref
scaled_net bad 4
mkdir moved
mv bad/rank_0/graphs moved/graphs && rm -r ref/rank_0/graphs
masked msdump next -d bad --ref ref
masked msdump next -d bad --ref ref --ir moved/graphs
msdump next -d bad --ref ref --ir moved/graphs -out case -q >all
jq -c .settings.ir case/case.json | sed "s|$PWD|PWD|g"
msdump next -d case -q --json | lines
mv moved/graphs moved/again
msdump next -d case -q --json --ir moved/again | lines
jq -c .settings.ir case/case.json | sed "s|$PWD|PWD|g"
masked msdump next -d case
masked msdump next -d bad --ir moved/none
