# Pages in Chinese have the commands and outputs of those in English.
top=$TESTDATA/..
blocks() { awk '/^```[a-z]/ { inside = 1 } inside; /^```$/ { inside = 0 }' "$top/$1"; }
for page in README docs/guide; do
  diff -u <(blocks $page.md) <(blocks ${page}_CN.md) && echo "$page: $(blocks $page.md | grep -c '^\$ ') commands in both"
done
for page in README.md README_CN.md; do
  echo "$page: $(wc -l <"$top/$page") lines" | awk '{ print ($2 <= 200 ? $1 " at most 200 lines" : $0) }'
done
# Links lead to pages in English, unless the text says otherwise.
grep -oE '\]\(docs/[a-z-]*_CN\.md[^)]*\)(（中文）)?' "$top/README_CN.md" | grep -v '（中文）' || true
