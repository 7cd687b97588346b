# The dumps that the pages name in their console blocks: recorded ones, and those of other cases of the command line.
# shellcheck shell=bash
cases=$TESTDATA/../tests/cli

# recorded ARCHIVE PATH NAME: what an archive of testdata/recorded has at PATH, as NAME.
recorded() {
  mkdir -p ../recorded
  [[ -e ../recorded/$1 ]] || (cd ../recorded && cmake -E tar xf "$TESTDATA/recorded/$1.tar.zst")
  cp -r "../recorded/$1/$2" "$3"
}

# dumps_of PAGE: in the current folder, beside testdata.
dumps_of() {
  if [[ $(type -t "dumps_of_$1") == function ]]; then "dumps_of_$1"; fi
}

dumps_of_guide() {
  recorded msprobe trees/pt-mlp-tensor-scale bad
  recorded msprobe trees/pt-mlp-tensor good
  rm -r good/step1  # the other side has none
  recorded msprobe trees/pt-mlp-stats-scale bad-stats
  recorded msprobe trees/pt-mlp-stats good-stats
  recorded msprobe trees/pt-block-tensor-nan nan
  checkpoint ./step_100.safetensors embed.weight 2,2 '1 2 3 4' mlp.up.weight 2,2 '0.5 -0.25 0.125 1' mlp.up.bias 2 '0 1'
  checkpoint ./step_200.safetensors embed.weight 2,2 '1 2 3 4' mlp.up.weight 2,2 '0.5 -0.25 1.125 1' mlp.up.bias 2 '0 1'
}
dumps_of_guide_CN() { dumps_of_guide; }

dumps_of_ci() {
  recorded msprobe trees/pt-mlp-tensor-scale candidate
  recorded msprobe trees/pt-mlp-tensor reference
}

dumps_of_find-op() { recorded real 2.10.0-alexnet-all/dump dump; }

dumps_of_check() {
  recorded diagnosis regress-pow-overflow/bad.tar.gz pow.tar.gz
  mkdir dump
  tar -C dump -xzf pow.tar.gz

  # Of four ranks one got another sum, and one has another weight in step 1.
  # shellcheck source=../check/ranks.bash
  source "$cases/check/ranks.bash"
  ranks
  rm -r rank_2/Net/0/0 rank_1/Net/0/1
  rank_dump 2 0 0.5 2 6.5
  rank_dump 1 1 0.625 2 10
  mkdir ranks
  mv rank_? ranks

  # shellcheck source=../check/history.bash
  source "$cases/check/history.bash"
  gradients_table monitor_output/rank_0/weight_grad_step0-79.csv 60 8

  # shellcheck source=../check/watcher.bash
  source "$cases/check/watcher.bash"
  local step=watched/20260801120000/0/ge_default/1/0
  snapshot $step AddN net_early_To_net_add_n 1
  snapshot $step AddN net_add_n 2
  snapshot $step AddN net_less_To_net_add_n 3
  snapshot $step AddN net_pow_To_net_add_n 4
  written $step/AddN.net_pow_To_net_add_n.4.0.1700000000000004 1 'what pow wrote 1what pow wrote 2'
  mkdir pow
  dump_file pow/Pow.net_pow.4.0.1700000000000014 2 '2 8 2' '2 8 2'
  written pow/Pow.net_pow.4.0.1700000000000014 1 'what pow wrote 1what pow wrote 2'
}

dumps_of_diff() {
  # shellcheck source=../check/history.bash
  source "$cases/check/history.bash"
  gradients_table monitor_output/rank_0/weight_grad_step0-79.csv 60 8
  gradients_table monitor_before/rank_0/weight_grad_step0-79.csv 80 1
  checkpoint ckpt/global_step_41/model.safetensors embed.weight 2,2 '1 2 3 4' \
    layers.0.up.weight 2,2 '0.5 -0.25 0.125 1' layers.1.up.weight 2,2 '0.25 1 -0.5 0.75' layers.1.norm.weight 2 '1 1.5' head.weight 2 '1 2'
  checkpoint ckpt/global_step_42/model.safetensors embed.weight 2,2 '1 2 3 4.5' \
    layers.0.up.weight 2,2 '0.5 -0.5 0.125 1' layers.1.up.weight 2,2 '0.25 1 -0.25 0.75' layers.1.norm.weight 2 '1 1.25' head.weight 2 '2 2'
  checkpoint ./rollout.safetensors embed.weight 2,2 '1 2 3 4.5' \
    layers.0.up.weight 2,2 '0.5 -0.5 0.125 1' layers.1.up.weight 2,2 '0.25 1 -0.5 0.75' layers.1.norm.weight 2 '1 1.5' head.weight 2 '2 2'
}

dumps_of_next() {
  recorded msprobe trees/pt-mlp-stats-scale bad
  recorded msprobe trees/pt-mlp-stats good
  # What the two runs of the next round dump: the calls that the configuration names.
  local side tree
  for side in candidate reference; do
    tree=pt-mlp-tensor
    [[ $side == reference ]] || tree+=-scale
    mkdir -p runs
    recorded msprobe trees/$tree runs/$side
    rm -rf runs/$side/step1
    find runs/$side -name '*.pt' ! -name 'Functional.linear.0.forward*' ! -name 'Functional.layer_norm.0.forward*' -delete
    keep_calls runs/$side/step0/*/dump.json Functional.linear.0.forward Functional.layer_norm.0.forward
  done

  # A range of calls, into which a NaN comes.
  mkdir -p range/step5/rank0
  printf '{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s,%s}}' \
    "$(statistics_of Torch.mul.0.forward 1 1)" "$(statistics_of Torch.log.0.forward '"nan"' '"nan"')" >range/step5/rank0/dump.json

  # Only what comes after the operator that is to blame was dumped.
  scaled_net late-good
  scaled_net late 4
  rm {late,late-good}/rank_0/Net/0/0/Mul.*
}

# keep_calls DUMP.JSON NAME...: of the calls in it.
keep_calls() {
  local file=$1
  shift
  jq '.data |= with_entries(select(.key | IN($ARGS.positional[])))' "$file" --args "$@" >kept.json
  mv kept.json "$file"
}

# statistics_of NAME INPUT OUTPUT: an entry of dump.json, all statistics of a tensor being one number.
statistics_of() {
  local one='{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":@,"Min":@,"Mean":@,"Norm":@}'
  printf '"%s":{"input_args":[%s],"input_kwargs":{},"output":[%s]}' "$1" "${one//@/$2}" "${one//@/$3}"
}

dumps_of_tokens() {
  # shellcheck source=../diff/tokens.bash
  source "$cases/diff/tokens.bash"
  padded train
  FAULT='+(p>=3&&id>0?1:0)*0.25' rollout rollout
}

dumps_of_parallel() {
  # shellcheck source=../diff/cut.bash
  source "$cases/diff/cut.bash"
  whole whole down
  cut tp2 sum wrong
}
