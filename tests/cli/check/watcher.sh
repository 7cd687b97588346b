# A dump of CANN's watcher mode: which operator wrote over the output of another.
source "$(dirname "${BASH_SOURCE[0]}")/watcher.bash"
step=20260801120000/0/ge_default/1/0
snapshot $step AddN net_early_To_net_add_n 1
snapshot $step AddN net_add_n 2
snapshot $step AddN net_less_To_net_add_n 3
show msdump check
show msdump info .
snapshot $step AddN net_pow_To_net_add_n 4
written $step/AddN.net_pow_To_net_add_n.4.0.1700000000000004 1 'what pow wrote 1what pow wrote 2'
snapshot $step AddN net_relu_To_net_add_n 5
written $step/AddN.net_relu_To_net_add_n.5.0.1700000000000005 1 'what pow wrote 1what pow wrote 2'
show msdump check
msdump check --json -q | jq -c '.summary | {warnings, memory_stomp, watched_outputs, watched_changed, snapshots_compared}'
show msdump check -q --rule memory_stomp:severity=error --fail-level error --op '*add_n'
show msdump check -q --rule memory_stomp:off
msdump info . --json | jq -c '.rows[0].detail | {watched_ops, snapshots}'
# An output of the operator in a dump beside it: its bytes are told.
mkdir beside
dump_file beside/Pow.net_pow.4.0.1700000000000014 2 '2 8 2' '2 8 2'
written beside/Pow.net_pow.4.0.1700000000000014 1 'what pow wrote 1what pow wrote 2'
show msdump check -q . --rule none --rule memory_stomp
# Without the operator's own output the names do not tell.
rm $step/AddN.net_add_n.2.0.1700000000000002 $step/AddN.net_early_To_net_add_n.1.0.1700000000000001
show msdump check -q --rule none --rule memory_stomp
show msdump check --watched '*_add_n' --rule none --rule memory_stomp
