# Parts of check, merged: findings, the first operator, JUnit and page of one run. Rules that read two steps of a weight, or
# all its rows, read them in the merge.
for rank in 0 1; do
  for step in 0 1 2; do
    dir=dump/rank_$rank/Net/0/$step
    mkdir -p "$dir"
    weight() { npy "$dir/Parameter.$1.0.0.170000000000000$step.output.0.DefaultFormat.Float32.npy" "$2" "$3" "$4"; }
    weight conv.weight '<f4' '(2,2)' "$(f32 1 "$step" 0 0)"
    weight fc.weight '<f4' '(2,)' "$(f32 3 4)"
    weight fc.bias '<c8' '(1,)' "$(f32 "$step" nan)"
    two_floats "$dir/Log.Default_Log-op$rank.0.0.17000000000001$step.input.0.DefaultFormat.Float32.npy" "$(f32 1 2)"
    two_floats "$dir/Log.Default_Log-op$rank.0.0.17000000000001$step.output.0.DefaultFormat.Float32.npy" \
      "$(f32 1 "$([[ $step == 2 ]] && echo nan || echo 2)")"
  done
done
npy dump/rank_1/Net/0/2/Mul.Default_cut.0.0.1700000000000200.output.0.DefaultFormat.Float32.npy '<f4' '(9,)' ''

# all COMMAND...: what it prints and writes.
all() {
  rm -f x.xml x.html
  "$@" 2>&1
  echo "[exit $?]"
  [[ ! -e x.html ]] || grep -hv '<dd><code>msdump' x.xml x.html # its options are in the order of --help
}

# same N [OPTION...]: all forms of one run and of merge.
same() {
  local n=$1 form i
  shift
  rm -rf parts
  for ((i = 1; i <= n; i++)); do msdump check --no-recompute -d dump "$@" --shard "$i/$n" -out "parts/$i" -q || echo "shard: $?"; done
  for form in --csv --json --jsonl '' '--json --junit x.xml --report x.html'; do
    # shellcheck disable=SC2086  # no form is none
    all msdump check --no-recompute -d dump "$@" $form >whole
    # shellcheck disable=SC2086
    all msdump merge parts/* $form >merged
    cmp whole merged && echo "the same: $n $* $form $(grep -a '^.exit' whole)"
  done
}
same 3
same 2 --rule all --rule tensor_range:range_percentage_lt=99,range_start_inclusive=0,range_end_inclusive=9 --fail-level error
same 2 --rank 0 --rule weight_change_small:abs_mean_update_ratio_lt=1e9 --op '*weight*'
same 2 --op '*Log*' --io output
rm -rf parts
for i in 1 2; do msdump check --no-recompute -d dump --first --shard "$i/2" -out "parts/$i" -q; done
msdump check --no-recompute -d dump --first >whole 2>&1
show msdump merge parts/* | sed '1d;$d' | diff whole - && echo 'the same: --first'
rm -rf parts
for i in 1 2; do msdump check --no-recompute -d dump --trend --shard "$i/2" -out "parts/$i" -q; done
diff <(msdump check --no-recompute -d dump --trend 2>&1) <(msdump merge parts/* 2>&1) && echo 'the same: --trend'

# Statistics lie in the parts: the tensors are not read for them.
mkdir one
for i in 1 2 3; do msdump check --no-recompute -d dump --rule all --shard "$i/3" -out "one/$i" -q; done
msdump check --no-recompute -d dump --rule all --json >whole.json 2>/dev/null
find dump -name '*Log*' | while read -r file; do
  touch -r "$file" time
  two_floats "$file" "$(f32 9 9)"
  touch -r time "$file"
done
msdump merge one/* --json 2>/dev/null | cmp whole.json - && echo 'no tensor is read'

show msdump check --no-recompute -d dump -out findings
show msdump check --no-recompute -d dump --resume
show msdump check --no-recompute -d dump --shard 1/2 -out p --junit x.xml
