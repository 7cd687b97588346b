# --report: a page beside what is printed, complete or not at all.
scaled_net bad 3
scaled_net good
find bad -type f -exec touch -d 2026-01-02T03:04:05Z {} +
find good -type f -exec touch -d 2026-01-03T03:04:05Z {} +

# part of the page between two marks
part() { sed -n "/$2/,/$3/p" "$1"; }

# What is printed and the exit code are those without --report.
msdump diff bad good >plain.txt 2>plain.err; echo "exit $?"
msdump diff bad good --report page.html >with.txt 2>with.err; echo "exit $?"
cmp plain.txt with.txt && cmp plain.err with.err && files . | grep -c '^./page.html$'

# The head: who is who, where, of when. Two pages of the same dumps are equal.
part page.html '<dl class="dumps">' '<.dl>' | sed "s|$PWD|HERE|"
cp page.html first.html; msdump diff bad good --report page.html >/dev/null 2>&1; cmp first.html page.html && echo equal
# The counts are those of the text.
grep -o '[0-9]* tensors compared.*' plain.err
part page.html '<ul class="counts"' '<.ul>' | sed 's/<[^>]*>//g' | paste -sd ' '

# The answer, the evidence and the first rows are plain HTML.
grep -o '<h1 [^/]*</h1>' page.html
part page.html '<section class="cause"' '<.section>' | sed 's/<[^>]*>/ /g; s/  */ /g' | grep -v '^ *$'
grep -o '<li class="[a-z]*" data-count="[a-z]*"><b>[0-9]*' page.html
sed -n '/<table><thead>/,/<.table>/p' page.html | grep -c '^<tr>'
# The page asks for nothing.
grep -cE '<(link|img|iframe|object|base)|<script[^>]* src|url\(|@import' page.html
# It is one file for one input, whatever -j.
msdump diff bad good -j 1 --report one.html >/dev/null 2>&1
msdump diff bad good -j 3 --report one2.html >/dev/null 2>&1
cmp <(sed 's/-j 1 --report one.html/X/' one.html) <(sed 's/-j 3 --report one2.html/X/' one2.html) && echo same

# Beside --json and --csv; the rows in its data are those of --json.
msdump diff bad good --json --report json.html 2>/dev/null | jq -c '.summary.compared, (.rows | length)'
data() { sed -n 's/.*id="data">\([^<]*\)<.*/\1/p' "$1" | base64 -d | gzip -d; }
data json.html | jq -c '.kind, .all, .rows.count, .command, [.rows.columns[] | select(.key == "verdict") | .words[1:]]'
msdump diff bad good --csv --report csv.html 2>/dev/null | wc -l

# Where nothing differs, and for two files.
msdump diff good good --report same.html >/dev/null 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' same.html
npy a.npy '<f4' '(4,)' "$(f32 1 2 3 4)"
npy b.npy '<f4' '(4,)' "$(f32 1 2 3 5)"
msdump diff a.npy b.npy --report pair.html >/dev/null 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' pair.html
data pair.html | jq -c '.pictures[0] | .worst, .map.cells, .histogram'

# Checkpoints: the title is the headline of the text.
checkpoint ./a.safetensors fc.weight 4 '1 2 3 4' fc.bias 2 '1 1'
checkpoint ./b.safetensors fc.weight 4 '1 2 3 5' fc.bias 2 '1 1'
msdump diff a.safetensors b.safetensors --report parameters.html 2>/dev/null | sed -n 2p
grep -o '<h1 [^/]*</h1>' parameters.html
grep -o '<h2 id="along-title">[^/]*' parameters.html

# Nothing selected: a page that says so.
msdump diff bad good --op nothing --report none.html 2>&1; echo "exit $?"
grep -o '<h1 [^/]*</h1>' none.html

# Refusals come before any work, and leave nothing.
mkdir folder
show msdump diff bad good --report folder
show msdump diff bad good --report missing/page.html
show msdump diff bad good --report -
show msdump diff bad good --profile msaccucmp --report page2.html
touch target.html && ln -s target.html link.html
msdump diff bad good --report link.html >/dev/null 2>&1; test -L link.html && grep -c '<h1 ' target.html
msdump diff bad good -q --report /dev/stdout | grep -c '</html>'
msdump diff bad good --report ' od&d "<p>.html' >/dev/null 2>&1
grep -o '<dt>command</dt><dd>.*</dd>' ' od&d "<p>.html'
files . | grep -c tmp || true
