# Results that cannot be written are an error of every command, in every form: to a full disk and to a closed stdout.
# documents: not checked
scaled_net good
scaled_net bad nan
ln -s "$TESTDATA" testdata
ir=good/rank_0/graphs
while IFS= read -r command; do
  # shellcheck disable=SC2086  # words on purpose
  msdump $command >/dev/full 2>full
  full=$?
  # shellcheck disable=SC2086
  msdump $command >&- 2>closed
  printf '%s %s  %s  %s\n' "$full" "$?" "$command" "$(grep -hc 'error: standard output: cannot write the results:' full closed | xargs)"
done <<END
help
help --man
help convert
--help
--version
convert --help
completion bash
completion zsh
completion fish
convert --list-formats
convert --list-dtypes --csv
convert -d testdata/sample -out a --dry-run
convert -d testdata/sample -out b --json
stats -d good
stats -d good --csv
stats -d good --json
stats -d good --jsonl
stats -d good --top 3
stats --list-columns
info good
info good --json
info good/rank_0/Net/0/0/Mul.Default_Mul-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy --values
ls -d good
ls -d good --csv
ls -d good -0
find-op --line net.py:12 -d good
find-op --line net.py:12 -d good --json
find-op --line net.py:12 -d good -0
find-op nothing --ir $ir --json
map-ir -d good
map-ir -d good --csv
map-ir -d good --prove
map-ir --ir $ir --dot
diff bad good
diff bad good --json
diff bad good --csv
diff good good --all
diff bad good --worst 2 --by-axis
diff nowhere good --json
diff --list-metrics
diff bad good --profile msaccucmp
check bad
check bad --json
check bad --jsonl
check bad --first
check bad --trend --all
check bad --trend --csv
check --list-rules
check-config testdata/data_dump.json
check-config testdata/data_dump.json --json
check-config --explain kernels
check-config --explain saved_data --csv
END

echo
echo 'Options that name a file or folder: a full device, a folder that is not there.'
attempt() {
  local status=0
  "$@" >/dev/null 2>err || status=$?
  printf '%s  %s\n' "$status" "${*:1}"
  sed -n 's/^msdump: error: /    /p' err
}
attempt msdump check bad -q --junit /dev/full
attempt msdump check bad -q --junit nowhere/a.xml
attempt msdump diff bad good -q --write-baseline /dev/full
attempt msdump diff bad good -q --write-baseline nowhere/a.json
attempt msdump diff bad good -q --profile msaccucmp -out /dev/full
attempt msdump convert -q -d testdata/sample -out /dev/full/a
attempt msdump stats -q -d good -out /dev/full/a
echo
echo 'Beyond ulimit -f a write fails and leaves nothing.'
limited() {
  (ulimit -f 0 && exec "$@" 2>&1 >/dev/null) | head -n 1
  return "${PIPESTATUS[0]}"
}
for command in 'convert -q -j 1 -d testdata/sample -out c' 'stats -q -j 1 -d good -out d' 'check bad -q --junit check.xml' \
  'diff bad good -q --write-baseline new.json' 'diff bad good -q --profile msaccucmp -out e'; do
  # shellcheck disable=SC2086
  limited msdump $command
  echo "$?  $command"
done
find . -type f '(' -name '.msdump*.tmp' -o -path './[c-e]/*' -o -name check.xml -o -name new.json ')'
