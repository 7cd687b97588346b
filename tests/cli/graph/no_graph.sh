# A document is always printed, also of a tree without IR and of a broken one.
mkdir -p empty dump/rank_0/Net/0/0
two_floats dump/rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000000.output.0.DefaultFormat.npy
printf '\0\1\2\3' >binary.ir
for command in 'map-ir -d dump' 'map-ir -d empty' 'map-ir --ir binary.ir' 'find-op --line a.py:1 -d dump' \
  'find-op Add-op1 --ir binary.ir'; do
  # shellcheck disable=SC2086  # a list on purpose
  msdump $command --json -q 2>/dev/null | jq -c '[.command, .rows, .summary, [.failures[].code]]'
  echo " [exit ${PIPESTATUS[0]}]"
done
