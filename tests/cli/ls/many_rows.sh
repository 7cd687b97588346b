# Rows that several threads format are those of one thread, in every form.
mkdir dump
npy_file one.npy '<f4' '(3,)' 12
tee dump/t{1..700}.npy <one.npy >/dev/null
for form in '' --csv --json --jsonl; do
  # shellcheck disable=SC2086  # an option or none
  msdump ls -j 1 dump $form >one
  # shellcheck disable=SC2086
  msdump ls -j 4 dump $form | cmp - one && echo "${form:-table}: the same"
done
msdump ls -j 4 dump --jsonl -q | jq -r .op_name | uniq | wc -l
