# Asked for, help is a result: stdout, exit 0; all spellings print the same.
msdump help >screen || echo "exit $?"
msdump --help | cmp - screen
msdump -h | cmp - screen
msdump 2>&1 | cmp - screen
msdump convert --help >text || echo "exit $?"
msdump convert -h | cmp - text
msdump help convert | cmp - text
msdump convert --format nonsense --help | cmp - text
grep -n -m 1 '^Examples:' text | cut -d: -f2
grep -o '^  -d, --dump[^ ]*' text
tail -n 2 text | cut -c 1-40
show msdump help convrt
show msdump help convert stats
