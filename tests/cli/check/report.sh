# --report of check: a page beside what is printed.
npy Log.Default_Log-op1.0.0.1700000000000001.input.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 0 2)"
npy Log.Default_Log-op1.0.0.1700000000000001.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 nan 2)"
npy Mul.Default_Mul-op2.0.0.1700000000000002.output.0.DefaultFormat.npy '<f4' '(2,)' "$(f32 1 2)"
mkdir pages
msdump check --no-recompute >plain.txt 2>&1; echo "exit $?"
msdump check --no-recompute --report pages/page.html >with.txt 2>&1; echo "exit $?"
cmp plain.txt with.txt && grep -o '<h1 [^/]*</h1>' pages/page.html
sed -n '/class="evidence"/,/<.table>/p' pages/page.html | sed 's/<[^>]*>/ /g; s/  */ /g' | grep -v '^ *$'
data() { sed -n 's/.*id="data">\([^<]*\)<.*/\1/p' "$1" | base64 -d | gzip -d; }
data pages/page.html | jq -c '.kind, .all, .rows.count, .points.count, .causes,
  [.points.columns[] | select(.key == "state") | [.cells[] as $i | .words[$i]]],
  [.points.columns[] | select(.key == "max_abs") | .numbers]'
msdump check --no-recompute --json --report pages/json.html 2>/dev/null | jq -c '.rows | length'
msdump check --no-recompute --first --report pages/first.html >/dev/null 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' pages/first.html
msdump check --no-recompute --op '*Mul*' --report pages/clean.html >/dev/null 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' pages/clean.html
msdump check --no-recompute --op nothing --report pages/none.html >/dev/null 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' pages/none.html
show msdump check --no-recompute --report pages
show msdump check --no-recompute --report missing/page.html
show msdump check --no-recompute --report -
show msdump check --no-recompute --trend --report pages/trend.html
# Beside JUnit.
msdump check --no-recompute --junit pages/check.xml --report pages/both.html >/dev/null 2>&1
files pages
