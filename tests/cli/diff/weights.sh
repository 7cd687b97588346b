# Which version of a checkpoint each parameter of a candidate is of: weights that were not all brought up to date.
numbers() { awk -v seed="$1" -v count="$2" 'BEGIN { for (i = 0; i < count; ++i) printf "%s ", (seed * 7919 + i * 31 + i * i * seed) % 97 }'; }
saved() { # FOLDER VERSION, one argument a line
  local words=()
  for layer in 0 1 2; do
    words+=("layers.$layer.q.weight" "4,4" "$(numbers "$2$layer" 16)" "layers.$layer.norm.weight" 4 "$(numbers "$2$layer" 4)")
  done
  checkpoint "$1" "${words[@]}" embed.weight 4,4 "$(numbers 9 16)"
}
for version in 40 41 42; do saved ckpt/global_step_$version/model.safetensors $version; done
checkpoint rollout/model.safetensors embed.weight 4,4 "$(numbers 9 16)" \
  layers.0.q.weight 4,4 "$(numbers 420 16)" layers.0.norm.weight 4 "$(numbers 420 4)" \
  layers.1.q.weight 4,4 "$(numbers 411 16)" layers.1.norm.weight 4 "$(numbers 411 4)" \
  layers.2.q.weight 4,4 "$(numbers 422 16)" layers.2.norm.weight 4 "1 2 3 4"

echo '# versions in one folder'
msdump diff --weights rollout ckpt -q
echo "exit $?"
msdump diff --weights rollout ckpt -q --json | jq -c '.weights'
echo '# versions one by one, the newest first'
msdump diff --weights rollout ckpt/global_step_4{2,1} -q --rows roots | grep -A3 '^weights'
echo '# all of one'
msdump diff --weights ckpt/global_step_41 ckpt -q
echo "exit $?"
echo '# one version: as without the option'
msdump diff --weights rollout ckpt --b-step 42 -q --json | jq -c '.weights, .summary.compared'
echo '# the parameters of a dump, of which a call has several'
cmake -E tar xf "$TESTDATA/recorded/msprobe.tar.zst" msprobe/trees/pt-mlp-tensor
mv msprobe/trees/pt-mlp-tensor dump
msdump diff --weights dump dump/step0 -q --json | jq -c '.summary.compared, .weights'
msdump diff --weights dump/step1 dump -q --json | jq -c '.weights | .compared, [.versions[] | [.step, .parameters]]'
echo '# a parameter that cannot be read is not said to be of none of the versions'
head -c -8 rollout/model.safetensors >half.safetensors
msdump diff --weights half.safetensors ckpt -q --json 2>/dev/null | jq -c '.weights.others'
echo '# mistakes'
msdump diff rollout ckpt/global_step_4{0,1}
echo "exit $?"
msdump diff --weights rollout nothere ckpt
echo "exit $?"
msdump diff --weights "$TESTDATA/sample-wrong" "$TESTDATA/sample"
echo "exit $?"
