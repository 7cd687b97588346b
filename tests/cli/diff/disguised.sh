# A pair of runs in disguises: renamed, split, nested, numbered, duplicated. Whatever the folders are called, the same tensors
# are paired and the same operator is the root. Each line has the way, the root, its dump, and the counts of the comparison.
# The ways were written down before the program was run on them.
cp -r "$TESTDATA/sample" good
cp -r "$TESTDATA/sample-wrong" bad
chmod -R u+w good bad

# told WAY CANDIDATE REFERENCE
told() {
  local way=$1
  shift
  msdump diff -q "$@" --json | jq -c --arg way "$way" '[$way, (.first_divergence[] | [.op_name[-12:], .dump]),
    [.summary | .compared, .same, .differ, .unmatched]]'
}
told '01 as they are' bad good

# below SOURCE FOLDER...: copies of a run in folders.
below() {
  local source=$1 folder
  shift
  for folder; do
    mkdir -p "$(dirname "$folder")"
    cp -r "$source" "$folder"
  done
}
below bad 02a/x/y/z
below good 02b/deep/er
told '02 nested, each elsewhere' 02a 02b
below good 03a/run1 03b/run1 03b/run2
below bad 03a/run2
told '03 twice, the second wrong' 03a 03b
below bad 04a/run1
below good 04a/run2 04b/run1 04b/run2
told '04 twice, the first wrong' 04a 04b
below good 05a/npu-1 05b/gpu-1 05b/gpu-2
below bad 05a/npu-2
told '05 twice, with other names' 05a 05b
below good 06a/actor 06a/ref 06b/actor 06b/critic 06b/ref
below bad 06a/critic
told '06 three stages' 06a 06b
below bad 07a/run1
below good 07a/run2 07b/run1
told '07 one that the reference lacks' 07a 07b
below good 08a/job/out/run1 08b/run1 08b/run2
below bad 08a/job/out/run2
told '08 twice, and nested on one side' 08a 08b
# as_rank RUN RANK
as_rank() { (($2 == 0)) || mv "$1/rank_0" "$1/rank_$2"; }
for rank in 0 1; do
  below good "09b/node$rank"
  as_rank "09b/node$rank" "$rank"
  below "$( ((rank == 1)) && echo bad || echo good)" "09a/node$rank"
  as_rank "09a/node$rank" "$rank"
done
told '09 a rank on each node' 09a 09b
for side in a b; do
  for stage in fill step; do
    for rank in 0 1; do
      source=good
      [[ $side$stage$rank != astep1 ]] || source=bad
      below $source "10$side/$stage/node$rank"
      as_rank "10$side/$stage/node$rank" "$rank"
    done
  done
done
told '10 a rank on each node, in two stages' 10a 10b
below bad 11a
below good 11b
mv 11a/rank_0 11a/rank_3
told '11 another rank' 11a 11b
below bad 12a
below good 12b
mv 12a/rank_0/Net/0/0 12a/rank_0/Net/0/7
told '12 another step' 12a 12b
below good 13a 13b
cp -r bad/rank_0/Net/0/0 13a/rank_0/Net/0/1
cp -r good/rank_0/Net/0/0 13b/rank_0/Net/0/1
told '13 a second step that is wrong' 13a 13b
below bad 14a
below good 14b
mkdir -p 14a/part1 14a/part2
mv 14a/rank_0 14a/part1
mkdir -p 14a/part2/rank_0/Net/0/0
mv 14a/part1/rank_0/Net/0/0/{MatMul,ReduceMean}* 14a/part2/rank_0/Net/0/0
told '14 split into two folders' 14a 14b

# Plain arrays: the outputs of the run in the order of execution.
names=(conv bias fc rnn loss gather)
# arrays SOURCE FOLDER FORM [FIRST]: FORM has @ for the name, and # or 0# for a number.
arrays() {
  local source=$1 folder=$2 form=$3 number=${4:-0} file name i=0
  [[ -d $source.arrays ]] || msdump convert -q -d "$source" -out "$source.arrays" -f ND >/dev/null 2>&1
  mkdir -p "$folder"
  for op in Conv2D BiasAdd MatMul DynamicRNN ReduceMean Gather; do
    file=$(find "$source.arrays" -name "$op*.output.0.*npy" | head -n 1)
    name=${form//0#/$(printf %04d "$((number + i))")}
    name=${name//#/$((number + i))}
    [[ -z $file ]] || cp "$file" "$folder/${name//@/${names[i]}}.npy"
    i=$((i + 1))
  done
}
arrays good 15b '@'
arrays bad 15a '@'
told '15 plain arrays' 15a 15b
for way in '16 numbers in front:0#_@' '17 a dash behind them:#-@' '18 a letter before them:F#__@'; do
  rm -rf a b
  arrays bad a "${way#*:}" 3
  arrays good b "${way#*:}" 11
  told "${way%%:*}" a b
done
rm -rf a b
arrays bad a '@_#' 4
arrays good b '@_#' 0
told '19 numbers behind' a b
rm -rf a b
arrays bad a/step0/rank0/x '0#_@' 9
arrays good b '0#_@'
told '20 numbers in front, in a tree' a b
rm -rf a b
arrays good a/run1 '#_@'
arrays bad a/run2 '#_@' 100
arrays good b/run1 '#_@' 50
arrays good b/run2 '#_@' 150
told '21 numbers in front, twice' a b

# Found on the way: one of two dumps, which the other side has alone.
below good 22a/run1 22b/run2
below bad 22a/run2
told '22 the second alone' 22a 22b
told '23 the second alone, exchanged' 22b 22a
told '24 as 22, without a folder that says which' 22a good
msdump diff 22a 22b 2>&1 >/dev/null | head -n 1
msdump diff -q 22a 22b --json | jq -c '[.rows[] | .reason | strings] | unique'

# Two dumps that share one graph: an operator has tensors of both.
for side in a b; do
  cp -r "03$side" "25$side"
  mkdir "25$side/rank_0"
  cp -r good/rank_0/graphs "25$side/rank_0"
  rm -r "25$side"/run*/rank_0/graphs
done
told '25 as 03, with one graph' 25a 25b

# An accepted difference is that of its dump.
for side in 03 04; do
  msdump diff -q 03a 03b --write-baseline accepted.json >/dev/null 2>&1
  msdump diff -q ${side}a ${side}b --baseline accepted.json --json | jq -c '[.rows[] | select(.verdict == "differ") | [.dump, .accepted]] | unique'
done
