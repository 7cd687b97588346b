# One dump on its own, over the sample: an overflow that the device noted, joined to its operator and line.
cd "$TESTDATA/sample" || exit
show msdump check
show msdump check --first
show msdump check --fail-level error --rule operator_overflow:severity=warning -q
show msdump check --all -q --op-type Conv2D
msdump check --json -q | jq -c '(.summary | with_entries(select(.value != 0))), .first, .rows[]'
msdump check --csv -q | head -1
