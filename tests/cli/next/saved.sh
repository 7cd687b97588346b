# The document of diff or check stands for the dumps that it names, in whatever layout a formatter gave it.
masked() { show "$@" | sed "s|$PWD|PWD|g"; }
mkdir -p bad/rank_0/Net/0/0 rows/rank_0/Net/0/0
for side in bad rows; do
  npy $side/rank_0/Net/0/0/Abs.Default_Abs-op1.1.1.10000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 1 2)"
  npy $side/rank_0/Net/0/0/Log.Default_Log-op2.2.1.20000.input.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 1 2)"
done
npy bad/rank_0/Net/0/0/Log.Default_Log-op2.2.1.20000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 nan 1)"
npy rows/rank_0/Net/0/0/Log.Default_Log-op2.2.1.20000.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 0 1)"
msdump diff bad rows -q --json >compared.json
msdump check bad -q --json >checked.json
masked msdump next -d compared.json
masked msdump next -d checked.json
jq . compared.json >pretty.json
masked msdump next -d pretty.json
msdump diff rows bad -q --json | jq -c . >line.json
masked msdump next -d line.json
msdump next -d checked.json -out case -q >all
{ printf ' \t\n' && sed 's/{/{ /' checked.json; } >blanks.json
masked msdump next -d blanks.json
jq -c '.rounds' case/case.json | sed "s|$PWD|PWD|g"
# What is none of these, and dumps that have gone.
echo '["schema"]' >list.json
masked msdump next -d list.json
masked msdump next -d compared.json --ref rows
msdump stats bad -q --json >stats.json
masked msdump next -d stats.json
head -c 40 compared.json >cut.json
masked msdump next -d cut.json
sed 's/"bad","rows"/"bad"/' compared.json >one.json
masked msdump next -d one.json
sed 's/"bad"/"bad","rows"/' checked.json >two.json
masked msdump next -d two.json
sed 's/"rows":.*/"rows"/' compared.json | tr -d '\n' >cut.json
masked msdump next -d cut.json
sed 's/"rows":/"lines":/' compared.json >other.json
masked msdump next -d other.json
{ printf '{%1048576s' '' && tail -c +2 compared.json; } >wide.json
masked msdump next -d wide.json
{ head -c 30 compared.json && printf '%1048576s' '' && tail -c +31 compared.json; } >wide.json
masked msdump next -d wide.json
mv rows gone
masked msdump next -d compared.json
mv bad gone/bad
masked msdump next -d compared.json
