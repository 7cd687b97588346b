# Parts of stats, merged: the bytes of one run in every form, and its exit code. A tensor that cannot be read is told once.
for rank in 0 1 2; do
  for op in a b c d; do
    mkdir -p "dump/rank_$rank/Net/0/0"
    npy "dump/rank_$rank/Net/0/0/Mul.Default_$op.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" '<f4' '(2,)' \
      "$(f32 "$rank" 1e30)"
  done
done
two_floats "dump/rank_1/Net/0/0/Add.Default_nan.0.0.1700000000000002.output.0.DefaultFormat.Float32.npy" "$(f32 nan 1)"
npy "dump/rank_2/Net/0/0/Add.Default_cut.0.0.1700000000000002.output.0.DefaultFormat.Float32.npy" '<f4' '(9,)' ''

# same OPTION...: the forms of one run and of merge.
same() {
  local form whole merged
  rm -rf parts
  for i in 1 2 3; do msdump stats -d dump "$@" --shard "$i/3" -out "parts/$i" || echo "shard: $?"; done
  for form in --csv --json --jsonl ''; do
    # shellcheck disable=SC2086  # no form is none
    whole=$(msdump stats -d dump "$@" $form 2>&1; echo "[exit $?]")
    # shellcheck disable=SC2086
    merged=$(msdump merge parts/3 parts/1 parts/2 $form 2>&1; echo "[exit $?]")
    diff <(echo "$whole") <(echo "$merged") && echo "the same: $* $form ${whole##*$'\n'}"
  done
}
same
same --rank 0-1 --exact --fail-on nan --columns max,min,md5,hash
same --op 'nothing*'

echo 'a tree of statistic.csv'
for i in 1 2; do msdump stats -d dump --dialect 2.5.0 --columns md5,max --shard "$i/2" -out "tree/$i" -q; done
msdump stats -d dump --dialect 2.5.0 --columns md5,max -out whole -q 2>/dev/null
show msdump merge tree/1 tree/2 -out merged
diff -r whole merged && files merged

echo 'a document in a file'
msdump stats -d dump --rank 0 --json >whole.json
for i in 1 2; do msdump stats -d dump --rank 0 --shard "$i/2" -out "one/$i" -q; done
show msdump merge one/1 one/2 --json -out merged.json
cmp whole.json merged.json
# The bytes of a part do not depend on the number of threads.
msdump stats -d dump --rank 0 --shard 1/2 -out one/again -q -j 7
cmp one/1 one/again
# Merging reads no tensor: other bytes of the same size make no difference.
for file in dump/rank_0/Net/0/0/*; do two_floats "$file" "$(f32 7 7)"; done
msdump merge one/1 one/2 --json | cmp whole.json -
