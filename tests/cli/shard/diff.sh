# Parts of diff, merged: rows, metrics, the first divergence, baseline and page of one run.
scaled_net ref
scaled_net bad 2 0.5
dumped bad Mul.Default_Mul-op9 9 output.0 1 2
npy ref/rank_0/Net/0/0/Sub.Default_cut.0.0.1700000000000005.output.0.DefaultFormat.Float32.npy '<f4' '(9,)' ''
npy bad/rank_0/Net/0/0/Sub.Default_cut.0.0.1700000000000005.output.0.DefaultFormat.Float32.npy '<f4' '(9,)' ''
echo 'Default/Add* rtol=1 cosine>=0.5' >tolerances

# all COMMAND...: what it prints and writes.
all() {
  rm -f x.html accepted.json
  "$@" 2>&1
  echo "[exit $?]"
  [[ ! -e x.html ]] || grep -v '<dd><code>msdump' x.html # its options are in the order of --help
  [[ ! -e accepted.json ]] || cat accepted.json
}

# same N ARGUMENT...: all forms of one run and of merge.
same() {
  local n=$1 form i
  shift
  rm -rf parts
  for ((i = 1; i <= n; i++)); do msdump diff --no-recompute "$@" --shard "$i/$n" -out "parts/$i" -q || echo "shard: $?"; done
  for form in --csv --json --jsonl '' --all '--json --report x.html --write-baseline accepted.json'; do
    # shellcheck disable=SC2086  # no form is none
    all msdump diff --no-recompute "$@" $form >whole
    # shellcheck disable=SC2086
    all msdump merge parts/* $form >merged
    cmp whole merged && echo "the same: $n $* $form $(grep -a '^.exit' whole)"
  done
}
same 3 bad ref
same 2 bad ref --worst 3 --by-axis --metrics kl --exit-zero
same 2 bad ref --op '*Add*' --tolerances tolerances
msdump diff --no-recompute bad ref --explain Add-op0 --shard 1/1 -out explained -q
diff <(msdump diff --no-recompute bad ref --explain Add-op0 2>&1) <(msdump merge explained 2>&1) && echo 'the same: --explain'
same 2 ref ref
two_floats a.npy "$(f32 1 2)"
two_floats b.npy "$(f32 1 3)"
same 2 a.npy b.npy

echo 'both dumps are those of the parts'
for i in 1 2; do msdump diff --no-recompute bad ref --shard "$i/2" -out "p$i" -q; done
msdump diff --no-recompute bad ref --json >whole.json 2>/dev/null
for file in bad/rank_0/Net/0/0/*_Add*output*; do npy "$file" '<f4' '(4,)' "$(f32 5 5 5 5)"; done
msdump merge p1 p2 --json 2>/dev/null | cmp whole.json - && echo 'no tensor is read'
rm ref/rank_0/Net/0/0/*ReLU*output*
show msdump merge p1 p2
show msdump diff bad ref --profile msprobe --shard 1/2 -out p
show msdump diff --no-recompute bad ref --resume
