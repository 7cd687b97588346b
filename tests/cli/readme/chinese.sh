# README_CN.md has the commands and outputs of README.md.
blocks() { awk '/^```[a-z]/ { inside = 1 } inside; /^```$/ { inside = 0 }' "$TESTDATA/../$1"; }
diff -u <(blocks README.md) <(blocks README_CN.md) && echo "$(blocks README.md | grep -c '^\$ ') commands in both"
echo "$(wc -l <"$TESTDATA/../README.md") lines" | awk '{ print ($1 <= 200 ? "at most 200 lines" : $0) }'
