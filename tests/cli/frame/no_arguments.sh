# Nothing typed: the first screen, on stderr, exit 2. It fits a terminal.
msdump 2>screen
status=$?
(($(wc -l <screen) <= 24)) || echo "longer than 24 lines"
head -n 3 screen
exit $status
