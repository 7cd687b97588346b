# Asked for, help is a result: stdout, exit 0. -h is short, --help has everything.
msdump help >screen || echo "exit $?"
msdump -h | cmp - screen
msdump --help >long || echo "exit $?"
head -n "$(wc -l <screen)" long | cmp - screen
grep -c '' long
msdump 2>&1 | diff - screen
msdump convert --help >text || echo "exit $?"
msdump help convert | cmp - text
msdump convert --format nonsense --help | cmp - text
msdump convert -h --help | cmp - text
grep -n -m 1 '^Examples:' text | cut -d: -f2
grep -o '^  -d, --dump[^ ]*' text
tail -n 2 text | cut -c 1-40
msdump convert -h
msdump check -h --format nonsense | tail -n 1
show msdump help convrt
show msdump help convert stats
