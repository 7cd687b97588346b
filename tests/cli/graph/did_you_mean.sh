# A selection that matches nothing names what is near, in every command; so does --around.
scaled_net good
for command in 'diff good good' 'check good' 'map-ir -d good' 'map-ir --ir good/rank_0/graphs' 'stats good' 'ls good'; do
  # shellcheck disable=SC2086  # words on purpose
  show msdump $command --op-type Mull -q
  # shellcheck disable=SC2086
  msdump $command --op-type Mull 2>&1 | grep hint
done
show msdump map-ir -d good --dot --around ReLu-op0
show msdump find-op Default/Ad-op0 -d good -q
