# The operator that went wrong was not dumped: those between the last value that agrees and the first that does not, and how
# to dump them.
mul_net ref chain 0
mul_net bad chain 0 5=2
rm {ref,bad}/rank_0/Net/0/0/*Mul-op[34578].0*
show msdump diff -q bad ref
msdump diff -q bad ref --json | jq -c '.first_divergence[] | {op_name, candidates: [.candidates[] | [.op_name, .source.line]], dump_config}'
rm {ref,bad}/rank_0/Net/0/0/*Mul-op6.0*
msdump diff -q bad ref 2>/dev/null | sed -n 1,8p
