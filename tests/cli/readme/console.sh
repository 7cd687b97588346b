# Every command in a console block of README.md prints what README.md shows. A difference is printed: paste it over if the
# new output is right.
readme=$TESTDATA/../README.md
ln -s "$TESTDATA" testdata
awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" >shown
sed -n 's/^\$ //p' shown >commands
status=0
while IFS= read -r command; do
  printf '$ %s\n' "$command"
  # The exit code of one command is what $? of the next one shows.
  eval "(exit $status); $command" 2>&1
  status=$?
done <commands >printed
diff -u shown printed && echo "$(wc -l <commands) commands print what README.md shows"
