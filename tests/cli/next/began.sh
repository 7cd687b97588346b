# When a training began to behave otherwise: statistics of the steps before, as msprobe's configuration.
# shellcheck source=../check/history.bash
source "$TESTDATA/../tests/cli/check/history.bash"
gradients_table jump/rank_0/weight_grad_step0-79.csv 60 8
msdump next -d jump | sed "s,$PWD/,,"
# With a reference: where the two histories diverge.
gradients_table calm/rank_0/weight_grad_step0-79.csv 80 1
msdump next -d jump --ref calm | sed "s,$PWD/,,;/^$/q"
msdump next -d calm --ref calm -q
echo "exit $?"
