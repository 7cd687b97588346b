# A run that waits for its list ends with the shell's code for the signal, says nothing more and leaves nothing behind.
# A signal that the parent ignores would stay ignored: whoever runs the tests in the background ignores SIGINT.
mkfifo never
for signal in INT TERM; do
  timeout --preserve-status -k 10 -s "$signal" 1 \
    env --default-signal="$signal" msdump convert -d - -out out <>never
  echo "$signal: $?"
done
ls
