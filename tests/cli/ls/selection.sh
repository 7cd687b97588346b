# The selection is the same for every command; one that matches nothing is a "no".
cd "$TESTDATA/sample" || exit
for option in '--op *Dense*' '--op */MatMul-op20' '--op-type conv2d' '--regex op(13|20)$' '--io output' '--slot 1' '--step 0' \
  '--rank 0-3' '--graph 0|2'; do
  # shellcheck disable=SC2086  # an option and its value
  printf '%-24s %s\n' "$option" "$(msdump ls $option -q --jsonl | jq -r '[.op_type, .io, .slot] | map(tostring) | join(":")' | xargs)"
done
show msdump ls --step 1
show msdump ls --rank 7 --csv
show msdump ls --op-type conv2
show msdump ls --op MatMul-op21
show msdump ls --op Gather-op40
show msdump ls --step x
show msdump ls --regex '('
show msdump ls --io outputs
show msdump ls --op-typ Add
