# When a training began to behave otherwise, from tables of msprobe's monitor.
# shellcheck source=history.bash
source "$TESTDATA/../tests/cli/check/history.bash"
gradients_table quiet/rank_0/weight_grad_step0-79.csv 80 1
gradients_table jump/rank_0/weight_grad_step0-79.csv 60 8
show msdump check jump
show msdump check quiet
show msdump check jump --rule none --rule began
show msdump check jump -q --rule began:off
show msdump check jump -q --op '*.11.*'
msdump check jump --json -q | python3 -c '
import json, sys
began = json.load(sys.stdin)["began"]
print({key: began[key] for key in began if key != "followers"})
print([follower["tensor"] for follower in began["followers"]])'
# Row by row and from the list of rows the answer is the same.
same() { msdump check "$1" -q --json "${@:2}" | python3 -c 'import json, sys; print(json.load(sys.stdin)["began"])'; }
[[ $(same jump --rule none --rule began) == "$(same jump)" ]] && echo same
# A row that cannot be read, and NaN.
gradients_table bad/rank_0/weight_grad_step0-79.csv 80 1
sed -i -e '500s/.*/-1,x,a,reduced,1,1,1,0/' -e 's/^-1,50,layers.3.weight,reduced,[0-9.]*/-1,50,layers.3.weight,reduced,nan/' \
  bad/rank_0/weight_grad_step0-79.csv
show msdump check bad --rule none --rule began
show msdump check quiet -q --rule none --rule began --step 0-6
# Seven steps tell nothing.
head -85 jump/rank_0/weight_grad_step0-79.csv >bad/rank_0/weight_grad_step0-79.csv
show msdump check bad -q --rule none --rule began
# A table without rows is nothing to judge, as for other rules.
mkdir -p empty/rank_0
head -1 jump/rank_0/weight_grad_step0-79.csv >empty/rank_0/weight_grad_step0-79.csv
show msdump check empty --rule none --rule began
