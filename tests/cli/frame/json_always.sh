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
ls good --op nosuch
map-ir -d good --op nosuch
find-op -d good --op nosuch
find-op *Add* -d good --op nosuch
convert empty -out c
convert good -out d --io input --slot 7
stats good --verify
diff
diff --rank 0 --a-rank 1 good good
diff good good --reprot x
diff good good --rtol x
stats good --exact --verify
stats good --dialect foo
stats good --top
stats good -j 0
convert good
find-op
ls good -0
merge nowhere
nosuch
help
END
# Not where no JSON was asked for, nor twice.
msdump diff nowhere good --csv -q 2>/dev/null | wc -l
msdump ls good --op -- --json 2>/dev/null | wc -l
msdump help --json -q 2>/dev/null | wc -l
msdump convert good -json -q 2>/dev/null | jq -c '[.failures[] | [.path, .tensor, .offset, .code, .message, .hint]]'
msdump check good nowhere --json -q 2>/dev/null | jq -c .failures
# What a document says failed is what was said to have failed, each once, with paths below the dump.
cp broken.npy good/rank_0/Net/0/0/Add.Default_Add-op0.0.0.1700000000000002.input.0.DefaultFormat.Float32.npy
for command in "ls good" "stats good" "check good" "check good --first" "convert good -out e" "map-ir -d good" "diff good good"; do
  # shellcheck disable=SC2086  # words on purpose
  msdump $command --json -q 2>/dev/null | jq -c --arg command "$command" '[$command, (.failures[] | [.path, .code])]'
done
