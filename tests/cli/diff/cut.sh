# Two ranks against one process: tensors are put together from their parts, and an all_reduce that adds up what it should
# average is the root. Layouts are written, read again, and stated.
source "$(dirname "${BASH_SOURCE[0]}")/cut.bash"
whole ref down
cut good down out
cut bad sum wrong
show msdump diff good ref --all
show msdump diff bad ref
msdump diff -q --json bad ref | jq -c '.rows[] | select(.io == "output") | [.op_name, .layout, .reference_layout, .layout_confidence, .ranks]'
msdump diff -q --json ref good | jq -c '.rows[0:2][] | [.op_name, .layout, .reference_layout, .ranks]'
msdump diff -q --csv bad ref | head -1 | tr , '\n' | grep -E 'layout|^ranks'
msdump diff -q --csv good ref | grep -c 'concat axis 1 of ranks 0-1,,1'
msdump diff -q --json ref ref | jq -c '[.rows[] | has("layout")] | any'

show msdump diff -q good ref --write-layout found.txt
cat found.txt
rows() { msdump diff -q --json "$@" | jq -c '.rows[] | [.op_name, .io, .slot, .verdict, .layout, .reference_layout]'; }
rows good ref >searched
rows good ref --layout found.txt >stated
diff searched stated && echo the same
show msdump diff -q ref good --write-layout found.txt
cat found.txt

# What is stated is not searched, and what does not fit is an error of its tensor.
echo '*linear.0*:output:* = concat(axis=1)  # known' >known.txt
echo '*linear.1.forward:output:0 = concat(axis=0)' >>known.txt
msdump diff -q --json good ref --layout known.txt | jq -c '.rows[] | select(.op_name | contains("linear")) | select(.io == "output") | [.op_name, .verdict, .layout_confidence, .reason]'
echo '*linear* = concat(axis=1; of=2)' >faulty.txt
show msdump diff good ref --layout faulty.txt
show msdump diff good ref --layout missing.txt
show msdump diff ref ref --layout known.txt
show msdump diff good ref --write-layout no/such/folder

# Each rank has the maxima of its part of the logits, and an all_reduce takes the largest; one that adds them up is the root.
peak='cos(r * r + 3 * c)'
made peak 4 6 "$peak"
made peak0 4 6 "$peak - (r + c) % 2"
made peak1 4 6 "$peak - (r + c + 1) % 2"
made added 4 6 "2 * ($peak) - 1"
begin peaks/step0/proc7
call Tensor.max.0.forward up:4,8 peak:4,6
call Functional.gelu.0.forward peak:4,6 out:4,6
finished
cut_peaks() { # DIR REDUCED OUT
  local rank
  for rank in 0 1; do
    begin "$1/step0/rank$rank"
    call Tensor.max.0.forward "up$rank:4,4" "peak$rank:4,6"
    call Distributed.all_reduce.0.forward "peak$rank:4,6" "$2:4,6"
    call Functional.gelu.0.forward "$2:4,6" "$3:4,6"
    finished
  done
}
cut_peaks good_peaks peak out
cut_peaks bad_peaks added wrong
show msdump diff good_peaks peaks --all --write-layout maxima.txt
grep max maxima.txt
show msdump diff bad_peaks peaks
echo 'reference:*max*:output:* = max(ranks=0-1)' >maxima.txt
rows peaks good_peaks --layout maxima.txt
echo '*max* = max(by=2), sum' >faulty.txt
show msdump diff good_peaks peaks --layout faulty.txt

# Parts merged are one run: layouts are found by each shard and by merge, each alone.
same() { # N ARGUMENT...
  local n=$1 form i
  shift
  rm -rf parts
  for ((i = 1; i <= n; i++)); do msdump diff "$@" --shard "$i/$n" -out "parts/$i" -q || echo "shard: $?"; done
  for form in --all --json --csv '--json --report page.html'; do
    # shellcheck disable=SC2086  # words
    msdump diff "$@" $form >whole 2>&1
    echo "exit $?" >>whole
    if [[ -e page.html ]]; then mv page.html whole.html; fi
    # shellcheck disable=SC2086
    msdump merge parts/* $form >merged 2>&1
    echo "exit $?" >>merged
    cmp whole merged && echo "the same: $n $* $form $(tail -1 whole)"
    if [[ -e page.html ]]; then cmp <(grep -v '<dd><code>msdump' whole.html) <(grep -v '<dd><code>msdump' page.html); fi
  done
}
same 3 good ref
same 2 bad ref
same 2 ref good
same 2 ref good --layout found.txt
same 3 good ref --layout known.txt

# The calls of the candidate alone before what is wrong are listed with their lines, nearest first; a collective that did not
# give rank 1 what went in is the root, whatever follows it.
for own in 1 2 3 4; do made "own$own" 4 6 "sin(9 * r + $own * c)"; done
made off 4 6 "2 * ($down) + (r == 2 && c == 3)"
chain() { # DIR
  local rank
  for rank in 0 1; do
    begin "$1/step0/rank$rank"
    line=10 call Functional.linear.0.forward x:4,6 "up$rank:4,4"
    line=12 call Tensor.roll.0.forward own1:4,6 own2:4,6
    line=13 call Tensor.exp.0.forward own2:4,6 own3:4,6
    line=13 call Tensor.neg.0.forward own3:4,6 own4:4,6
    line=14 call Tensor.__mul__.0.forward own4:4,6 wrong:4,6
    line=15 call Functional.gelu.0.forward wrong:4,6 off:4,6
    line=1 finished
  done
}
broken() { # DIR
  local rank got=sum
  for rank in 0 1; do
    begin "$1/step0/rank$rank"
    call Functional.linear.0.forward x:4,6 "up$rank:4,4"
    call Functional.linear.1.forward "up$rank:4,4" "down$rank:4,6"
    keywords='"group":{"type":"torch.ProcessGroup","value":null,"group_ranks":[0,1]}' call Distributed.all_reduce.0.forward "down$rank:4,6" "$got:4,6"
    call Functional.gelu.0.forward "$got:4,6" wrong:4,6
    finished
    got=off
  done
}
chain chained
broken broken
whole twice sum
msdump diff -q chained ref | sed '/^$/q'
msdump diff -q --json chained ref | jq -c '.first_divergence[] | [.op_name, .ranks, .dump_config], [.candidates[] | [.op_name, .source.line]]'
msdump diff -q broken twice | sed '/^$/q'
msdump diff -q --json broken twice | jq -c '.first_divergence[] | [.op_name, .ranks, .candidates]'
same 2 broken twice
