# Keys that scripts rely on: all of them in every row, null where nothing is known.
scaled_net ref
scaled_net bad 2 0.25
rm bad/rank_0/Net/0/0/Mul.*input.0.*
msdump diff -q bad ref --json >document
echo "exit $?"
jq -c 'keys' document
jq -c '.dumps, .summary' document
echo 'rows:'
jq -c '.rows[] | keys' document | sort | uniq -c | sed 's/^ *//'
jq -c '.rows[] | .metrics | keys' document | sort | uniq -c | sed 's/^ *//'
echo 'compared, and not:'
jq -c '.rows[5]' document
jq -c '.rows[0]' document
echo 'first divergence:'
jq -c '.first_divergence[]' document
scaled_net plain
msdump diff -q plain ref --json | jq -c '[.summary.verdict, .first_divergence, .failures]'
echo 'the same rows in other forms:'
cmp <(msdump diff -q bad ref --jsonl | jq -c .) <(jq -c '.rows[]' document) && echo 'jsonl: equal'
msdump diff -q bad ref --csv | head -n 1 | tr ',' '\n' | paste -sd ' '
msdump diff -q bad ref --csv | wc -l
