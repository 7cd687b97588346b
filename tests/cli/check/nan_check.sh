# msprobe's task nan_check: no statistics, but whether a call set the overflow register, which was cleared before it.
mkdir -p bad/step0/rank0 clean/step0/rank0 two/step0/rank0 two/step0/rank1
leaf='{"type":"torch.Tensor","dtype":"torch.float16","shape":[4,4],"requires_grad":false}'
# call NAME IS_NAN
call() { printf '"Torch.%s.forward":{"input_args":[%s],"input_kwargs":{},"output":[%s],"is_nan":%s}' "$1" "$leaf" "$leaf" "$2"; }
# dump_of CALL...
dump_of() {
  local IFS=,
  printf '{"task":"nan_check","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$*"
}
dump_of "$(call mul.0 0)" "$(call exp.0 1)" "$(call sum.0 1)" >bad/step0/rank0/dump.json
show msdump check bad --first
show msdump check bad
msdump check bad --first --json -q | jq -c '.first | {op_name, kind, io, slot, reason}'
msdump check bad --first --json -q | jq -c '.rows[] | [.kind, .op_name, .value]'
msdump check bad --first --junit first.xml -q >/dev/null
grep -o '<testsuites [^>]*>' first.xml
# Nothing overflowed; of one call the register could not be read.
dump_of "$(call mul.0 0)" "$(call exp.0 null)" >clean/step0/rank0/dump.json
show msdump check clean --first
show msdump check clean
# Rank 1 overflowed earlier than rank 0; a call without tensors; a value that is none.
dump_of "$(call mul.0 0)" "$(call exp.0 0)" '"Torch.seed.0.forward":{"is_nan":32}' "$(call sum.0 '"yes"')" >two/step0/rank0/dump.json
dump_of "$(call mul.0 true)" "$(call exp.0 1)" >two/step0/rank1/dump.json
show msdump check two --first
msdump check two --rule none --rule operator_overflow --csv -q 2>/dev/null | cut -d, -f1-8
msdump check two --rule none --rule 'operator_overflow:op=*exp*' --csv -q 2>/dev/null | cut -d, -f2,6
