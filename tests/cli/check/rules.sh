# Rules: lists, sets of one's own, and what is refused.
npy Mul.Default_Mul-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' '\0\0\x80\x44\0\0\0\x40'
show msdump check
show msdump check -q --rule too_large:max_gt=1000
show msdump check -q --rule too_large:max_gt=1000 --rule TL:off
show msdump check -q --rule too_large:max_gt=1000,severity=note
show msdump check -q --rule too_large:max_gt=1000,severity=note --fail-level note --all
printf '# ours\ntoo_large: max_gt=1000, op=Default_Mul*\n' >rules.txt
show msdump check -q --rules rules.txt
show msdump check -q --rules rules.txt --rule none
printf 'nan\ntoo_larg:max_gt=1\n' >bad.txt
show msdump check --rules bad.txt
show msdump check --rules none.txt
show msdump check --rule too_large:max_gt=big
show msdump check --rule too_large:maximum=1
show msdump check --fail-level fatal
show msdump check --first --trend
msdump check --list-rules --csv -q | cut -d, -f1-4 | head -4
msdump check --list-rules --json -q --rule too_large:max_gt=7 | jq -c '.rows[] | select(.rule == "too_large" or .rule == "nan") | {rule, on, parameters}'
# docs/check.md has every rule with what `value` is.
# shellcheck disable=SC2016  # not variables
diff <(msdump check --list-rules --json | jq -r '.rows[] | "\(.rule): \(.value)"') \
  <(sed -n '/^| rule | about/,/^$/s/^| `\([a-z_]*\)` | [^|]* | \([^|]*\) |$/\1: \2/p' "$TESTDATA/../docs/check.md" | sed 's/&#124;/|/g') &&
  echo 'docs/check.md has all rules'
