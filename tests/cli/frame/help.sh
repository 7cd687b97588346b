# Asked for, help is a result: stdout, exit 0; all spellings print the same.
msdump help >screen || echo "exit $?"
msdump --help | cmp - screen
msdump -h | cmp - screen
msdump 2>&1 | cmp - screen
msdump convert --help >convert || echo "exit $?"
msdump convert -h | cmp - convert
msdump help convert | cmp - convert
msdump convert --format nonsense --help | cmp - convert
grep -n -m 1 '^Examples:' convert | cut -d: -f2
grep -o '^  -d, --dump[^ ]*' convert
tail -n 2 convert | cut -c 1-40
show msdump help convrt
show msdump help convert stats
