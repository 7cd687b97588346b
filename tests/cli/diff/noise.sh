# A candidate that rounds everywhere: no operator stands out; with a fault, one does, with what was expected of it. Faults
# in one line of the script are one entry.
mul_net ref chain 0
mul_net rounded chain 1e-3
mul_net wrong chain 1e-3 5=1.1
mul_net fan_ref fan 0
mul_net fan fan 1e-3 4=1.1 5=1.1 9=1.2
show msdump diff --no-recompute rounded ref --rtol 1e-4 --op '*Mul-op11'
show msdump diff --no-recompute rounded ref --rtol 1e-4 --all
show msdump diff --no-recompute wrong ref
show msdump diff --no-recompute fan fan_ref
msdump diff --no-recompute -q fan fan_ref --json | jq -c '(.summary | [.differ, .explained, .unexplained]), (.first_divergence[] | [.op_name, .places]),
  .error_growth, .loss_scale, (.rows[] | select(.verdict == "differ") | [.op_name, .io, .explained])'
msdump diff --no-recompute -q wrong ref --json | jq -c '(.summary | [.differ, .explained, .unexplained]), .error_growth,
  (.rows[] | select(.op_name | test("Mul-op[4567]$")) | [.op_name, .io, .verdict, .explained])'
