# Dumps of msprobe of a net in one process (whole), and over two ranks with an all_reduce between two products (cut).
# shellcheck shell=bash
call() { # NAME INPUTS OUTPUTS: dump.json's entry; tensors are FILE:SHAPE
  local name=$1 io list one i text=''
  shift
  for io in input output; do
    i=0 list=''
    for one in $1; do
      list+="${list:+,}{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[${one#*:}],\"data_name\":\"$name.$io.$i.npy\"}"
      cp "${one%%:*}" "$dir/dump_tensor_data/$name.$io.$i.npy"
      i=$((i + 1))
    done
    text+=",\"$io${args[$io]}\":[$list]"
    shift
  done
  data+="${data:+,}\"$name\":{\"input_kwargs\":{$keywords}$text}"
  stack+="${stack:+,}\"$((calls++))\":[[\"$name\"],[\"File net.py, line ${line:-1}, in forward, \\n y = f(x)\"]]"
}
keywords='' line='' calls=0
declare -A args=([input]=_args [output]='')

# made FILE ROWS COLUMNS EXPRESSION: of row r and column c.
made() {
  local values
  read -ra values <<<"$(awk "BEGIN { for (r = 0; r < $2; r++) for (c = 0; c < $3; c++) printf \"%.9g \", $4 }")"
  npy "$1" '<f4' "($2, $3)" "$(f32 "${values[@]}")"
}
up='sin(3 * r + 7 * c + 1)' down='cos(5 * r + 2 * c * c)' term='sin(r * r + 4 * c)' out='cos(r * c + 3)'
made x 4 6 'sin(r + 2 * c * c)'
made up 4 8 "$up"
made down 4 6 "$down"
made sum 4 6 "2 * ($down)"
made wrong 4 6 "2 * ($out)"
made out 4 6 "$out"
made up0 4 4 "$up"
made up1 4 4 "${up//c/(c + 4)}"
made down0 4 6 "$term"
made down1 4 6 "2 * ($down) - ($term)"

begin() { # FOLDER: a dump.json without calls
  dir=$1 data='' stack=''
  mkdir -p "$dir/dump_tensor_data"
}
finished() {
  printf '{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$dir/dump.json"
  if [[ -n $line ]]; then printf '{%s}' "$stack" >"$dir/stack.json"; fi
}
whole() { # DIR DOWN
  begin "$1/step0/proc7"
  call Functional.linear.0.forward x:4,6 up:4,8
  call Functional.linear.1.forward up:4,8 "$2:4,6"
  call Functional.gelu.0.forward "$2:4,6" out:4,6
  finished
}
cut() { # DIR REDUCED OUT
  local rank
  for rank in 0 1; do
    begin "$1/step0/rank$rank"
    call Functional.linear.0.forward x:4,6 "up$rank:4,4"
    call Functional.linear.1.forward "up$rank:4,4" "down$rank:4,6"
    call Distributed.all_reduce.0.forward "down$rank:4,6" "$2:4,6"
    call Functional.gelu.0.forward "$2:4,6" "$3:4,6"
    finished
  done
}
