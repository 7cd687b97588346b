# A reader that has gone is no error; a result that cannot be written is.
# documents: not checked
scaled_net ref
scaled_net bad 2 0.25
for form in --jsonl --json --csv --all; do
  {
    until [[ -e gone ]]; do sleep 0.01; done
    msdump diff bad ref $form
    echo "to a closed pipe: $?" >&2
  } 2>messages | {
    exec <&-
    touch gone
  }
  cat messages
  rm gone
done
msdump diff -q bad ref --jsonl | head -n 1 | jq -c '.op_name'
msdump diff -q bad ref --json >/dev/full
echo "to a full disk: $?"
