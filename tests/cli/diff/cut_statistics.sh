# Two ranks against one process, of which statistics alone were dumped: parts, terms of a sum and copies are told from
# max, min, mean and norm; a sum that is not that of its terms is the root. No order of parts can be told.
call() { # NAME INPUT OUTPUT: entries of dump.json; a tensor is SHAPE:MAX:MIN:MEAN:NORM
  local io name=$1 text='' max min mean norm shape
  for io in input_args output; do
    shift
    IFS=: read -r shape max min mean norm <<<"$1"
    text+=",\"$io\":[{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[$shape],\"Max\":$max,\"Min\":$min,\"Mean\":$mean,\"Norm\":$norm,\"requires_grad\":false}]"
  done
  data+="${data:+,}\"$name\":{\"input_kwargs\":{}$text}"
}
finished() { # DIR
  mkdir -p "$1"
  printf '{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$1/dump.json"
}
x=4,6:2.5:-3.5:0.25:9 up=4,8:2:-2:0.5:5 down=4,6:3:-3:0.125:8 out=4,6:3:0:0.75:7
data=''
call Functional.linear.0.forward "$x" "$up"
call Functional.linear.1.forward "$up" "$down"
call Functional.gelu.0.forward "$down" "$out"
finished ref/step0/proc7

cut() { # DIR REDUCED OUT
  local rank ups=('4,4:2:-1.5:0.75:4' '4,4:1.5:-2:0.25:3') downs=('4,6:2:-2:0.5:6' '4,6:2.5:-1.5:-0.375:5')
  for rank in 0 1; do
    data=''
    call Functional.linear.0.forward "$x" "${ups[rank]}"
    call Functional.linear.1.forward "${ups[rank]}" "${downs[rank]}"
    call Distributed.all_reduce.0.forward "${downs[rank]}" "$2"
    call Functional.gelu.0.forward "$2" "$3"
    finished "$1/step0/rank$rank"
  done
}
cut good "$down" "$out"
cut bad 4,6:6:-6:0.25:16 4,6:5.9:0:1.75:15
show msdump diff good ref --all
show msdump diff ref good --all
msdump diff -q --json bad ref | jq -c '.rows[] | [.op_name, .io, .verdict, .layout, .layout_confidence, .reason]'
msdump diff -q --json bad ref | jq -c '.first_divergence[] | [.op_name, .kind]'
