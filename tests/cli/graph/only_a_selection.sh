# A part of the selection alone is something to search for; nothing at all is not.
cd "$TESTDATA/sample" || exit
for option in '--op-type MatMul' '--regex op(13|20)$' '--op *Dense*' '--op-type conv2d' '--op-type MatMul --regex op13'; do
  echo "find-op $option"
  # shellcheck disable=SC2086  # words
  (set -f && msdump find-op $option -q --jsonl | jq -r .op_name)
done
show msdump find-op
show msdump find-op --rank 0
