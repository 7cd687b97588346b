# The oldest and the newest release that are known, and what is neither.
data_dump >data_dump.json
for release in 1.0 v1.0.0 1.1 0.9 2.10 3 x; do show msdump check-config data_dump.json --framework-version "$release" -q; done
