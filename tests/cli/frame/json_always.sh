# Whoever asks for a document gets one, whatever ended the command once its options were understood.
scaled_net good
printf 'not an array' >broken.npy
mkdir empty elsewhere
cp -r good noir && rm -r noir/rank_0/graphs
printf 'IR entry: @x' >elsewhere/broken.ir
while IFS= read -r command; do
  # shellcheck disable=SC2086  # words on purpose
  msdump $command --json -q >out 2>err
  printf '%s  %s  %s\n' "$?" "$command" "$(jq -c '[.command, .dumps, (.rows | length), .failures[].code]' out 2>&1)"
done <<END
diff broken.npy broken.npy
diff good good --op nosuch
diff nowhere good
diff good empty
stats good --op nosuch
stats --verify good --op nosuch
stats --verify broken.npy
stats broken.npy
stats empty
map-ir -d noir
map-ir -d empty
map-ir --ir elsewhere/broken.ir
find-op Add -d noir
find-op Add --ir elsewhere/broken.ir
find-op Nosuch -d good
ls nowhere
ls empty
info nowhere
convert nowhere -out a
convert good -out b --op nosuch
check nowhere
check --first empty
check good --rules nowhere
check good --op nosuch
check-config nowhere
END
msdump diff nowhere good --csv -q 2>/dev/null | wc -l
msdump diff --rank 0 --a-rank 1 a b --json -q 2>/dev/null | wc -l
