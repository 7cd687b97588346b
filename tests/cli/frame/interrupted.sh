# A run that waits for its list, or for a reader, ends with the shell's code for the signal, says nothing more and leaves
# nothing behind. A signal that the parent ignores stays ignored, as SIGINT is for a background job.
mkfifo never unread report
exec 3<>unread 4>&1
scaled_net dump
attempt() {
  timeout --preserve-status -k 10 -s "$signal" 1 env --default-signal="$signal" "$@"
  echo "$signal: $?" >&4
}
for signal in INT TERM; do
  attempt msdump convert -d - -out out <>never
  # More than a pipe holds.
  attempt msdump info dump/rank_0/Net/0/0/{,./,././,./././}*.npy dump/rank_0/{Net,./Net,././Net}/0/0/*.npy \
    dump/{,./,././,./././,././././}rank_0/Net/0/0/{,./,././,./././}*.npy --json >&3
  attempt msdump check dump -q --junit report
done
ls
