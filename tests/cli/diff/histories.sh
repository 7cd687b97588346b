# Two trainings of several steps: where their histories diverge, beyond what each of them does by itself.
# shellcheck source=../check/history.bash
source "$TESTDATA/../tests/cli/check/history.bash"
gradients_table calm/rank_0/weight_grad_step0-79.csv 80 1
gradients_table jump/rank_0/weight_grad_step0-79.csv 60 3.5
began() { msdump diff "$1" "$2" -q --json "${@:3}" | python3 -c '
import json, sys
began = json.load(sys.stdin)["began"]
print(began and {key: began[key] for key in ("step", "tensor", "kind", "size", "reason", "steps")})
print(began and [follower["tensor"] for follower in began["followers"]])'; }
show msdump diff jump calm --top 2 -q
began jump calm
began calm jump
began calm calm
# No larger than what both did before by themselves.
large() { mkdir -p "$2/rank_0"; awk -F, -v OFS=, 'NR > 1 && $2 >= 30 && $2 < 40 {$5 *= 9} 1' "$1"/rank_0/*.csv >"$2/rank_0/weight_grad_step0-79.csv"; }
large calm calm_once
large jump jump_once
began jump_once calm_once
began jump_once calm
# NaN and a value that no longer changes, on one side only and on both.
mkdir -p stuck/rank_0 nan/rank_0
awk -F, -v OFS=, '$2 >= 50 && $3 == "layers.3.weight" {$5 = 1.05} 1' calm/rank_0/weight_grad_step0-79.csv >stuck/rank_0/weight_grad_step0-79.csv
awk -F, -v OFS=, '$2 >= 50 && $3 == "layers.4.weight" {$5 = $6 = $7 = "nan"; $8 = "3.0"} 1' calm/rank_0/weight_grad_step0-79.csv >nan/rank_0/weight_grad_step0-79.csv
began stuck calm
began calm nan
began stuck stuck
began nan nan
# Seven steps tell nothing; of the steps that only one has, nothing is known.
began jump calm --step 57-63
head -793 calm/rank_0/weight_grad_step0-79.csv >stuck/rank_0/weight_grad_step0-79.csv
began jump stuck
# The second part of each batch alone.
for side in jump calm; do
  mkdir -p parts_$side/rank_0
  awk 'NR > 1 { print } { print }' calm/rank_0/*.csv |
    awk -F, -v OFS=, -v side=$side 'seen[$2, $3]++ && side == "jump" && $2 >= 60 && $3 ~ /\.[0-6]\./ {$5 *= 8} 1' >parts_$side/rank_0/weight_grad_step0-79.csv
done
began parts_jump parts_calm
