# Dumps of msprobe of a small decoder on three sequences: a trainer with all of them in one pass, packed or padded, and a rollout
# that reads prompts in chunks, several sequences in a pass, and then token by token.
# shellcheck shell=bash
LAST='' call=0 data=''
sequences=('5 9 2 7 4 3' '5 9 2 8 6' '11 3 7')

# rows_of WHAT ROW...: numbers of each row, which is SEQUENCE:POSITION, or - for a pad. WHAT: id, position, or an expression of
# the id, the position p and the column c, of which there are four, or those from FROM to UNTIL.
rows_of() {
  local what=$1
  shift
  printf '%s\n' "${sequences[@]}" | awk -v rows="$*" "
    { for (i = 1; i <= NF; i++) ids[NR - 1, i - 1] = \$i }
    END {
      count = split(rows, list, \" \")
      for (r = 1; r <= count; r++) {
        split(list[r], part, \":\")
        s = part[1]; p = list[r] == \"-\" ? 0 : part[2]; id = list[r] == \"-\" ? 0 : ids[s, p]
        if (\"$what\" == \"id\") printf \"%d \", id
        else if (\"$what\" == \"position\") printf \"%d \", p
        else for (c = ${FROM:-0}; c < ${UNTIL:-4}; c++) printf \"%.9g \", ${what//[^a-z0-9+*()., <>=&?:-]/}
      }
    }"
}

# i64 NUMBER...: small ones as int64, in printf's escapes.
i64() { printf '\\x%02x\\0\\0\\0\\0\\0\\0\\0' "$@"; }

tensor() { # NAME.IO.SLOT DTYPE SHAPE NUMBER...
  local name=$1 dtype=$2 shape=$3
  shift 3
  if [[ $dtype == int64 ]]; then
    npy "$dir/dump_tensor_data/$name.npy" '<i8' "($shape)" "$(i64 "$@")"
  else
    npy "$dir/dump_tensor_data/$name.npy" '<f4' "($shape)" "$(f32 "$@")"
  fi
  printf '{"type":"torch.Tensor","dtype":"torch.%s","shape":[%s],"data_name":"%s.npy"}' "$dtype" "${shape%,}" "$name"
}

module() { # NAME INPUTS OUTPUTS: of dump.json
  data+="${data:+,}\"$1\":{\"input_args\":[$2],\"input_kwargs\":{},\"output\":[$3]}"
}

# forward FOLDER SHAPE NOISE ROW...: a pass; SHAPE is that of the rows. FAULT: what is added to the output of layer 1, LAST: rows that
# have logits, LATE: a module reads positions, from that one on one too large, HALF: 0 or 1, which half of the logits a rank has.
forward() {
  dir=$1
  ((call > 0)) || data=''
  local shape=$2 noise=$3 one at ids positions hidden embedded
  shift 3
  mkdir -p "$dir/dump_tensor_data"
  read -ra ids <<<"$(rows_of id "$@")"
  read -ra positions <<<"$(rows_of position "$@")"
  [[ -z ${LATE:-} ]] || for at in "${!positions[@]}"; do ((positions[at] += positions[at] >= LATE ? 1 : 0)) || true; done
  read -ra embedded <<<"$(rows_of 'sin(id+2*c)' "$@")"
  one=Module.model.embed_tokens.Embedding.forward.$call
  module $one "$(tensor $one.input.0 int64 "$shape" "${ids[@]}")" "$(tensor $one.output.0 float32 "${shape%,}, 4" "${embedded[@]}")"
  if [[ -n ${LATE:-} ]]; then
    read -ra hidden <<<"$(rows_of 'cos(p+c)' "$@")"
    one=Module.model.rotary_emb.Rotary.forward.$call
    module $one "$(tensor $one.input.0 int64 "$shape" "${positions[@]}")" "$(tensor $one.output.0 float32 "${shape%,}, 4" "${hidden[@]}")"
  fi
  read -ra hidden <<<"$(rows_of "sin(id+2*c)+cos(p+c)*(1+$noise)" "$@")"
  one=Module.model.layers.0.Layer.forward.$call
  module $one "$(tensor $one.input.0 float32 "${shape%,}, 4" "${embedded[@]}"),$(tensor $one.input.1 int64 "$shape" "${positions[@]}")" \
    "$(tensor $one.output.0 float32 "${shape%,}, 4" "${hidden[@]}")"
  one=Module.model.layers.1.Layer.forward.$call
  read -ra embedded <<<"$(rows_of "cos(id+c)+sin(p+3*c)*(1+2*$noise)${FAULT:-}" "$@")"
  module $one "$(tensor $one.input.0 float32 "${shape%,}, 4" "${hidden[@]}")" \
    "$(tensor $one.output.0 float32 "${shape%,}, 4" "${embedded[@]}")"
  local last logits=$shape
  read -ra last <<<"${LAST:-$*}"
  [[ -z $LAST ]] || logits=${#last[@]},
  local from=0 until=4
  [[ -z ${HALF:-} ]] || { ((from = 2 * HALF, until = from + 2)) || true; }
  read -ra hidden <<<"$(FROM=$from UNTIL=$until rows_of "sin(id+c)+cos(p)*(1+$noise)${FAULT:-}" "${last[@]}")"
  one=Module.lm_head.Linear.forward.$call
  module $one '' "$(tensor $one.output.0 float32 "${logits%,}, $((until - from))" "${hidden[@]}")"
  # Log-probabilities: the first of four columns.
  read -ra hidden <<<"$(rows_of "-1-0.1*p-id*0.01${FAULT:-}" "${last[@]}")"
  one=Module.log_probs.LogProbs.forward.$call
  ids=()
  for ((at = 0; at < ${#hidden[@]}; at += 4)); do ids+=("${hidden[at]}"); done
  module $one '' "$(tensor $one.output.0 float32 "$logits" "${ids[@]}")"
  printf '{"task":"tensor","level":"L0","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$dir/dump.json"
}

all=(0:0 0:1 0:2 0:3 0:4 0:5 1:0 1:1 1:2 1:3 1:4 2:0 2:1 2:2)
packed() { LAST='' forward "$1/step0/rank0" 14, 0 2:0 2:1 2:2 "${all[@]:0:11}"; }
padded() { LAST='' forward "$1/step0/rank0" '3, 6' 0 "${all[@]:0:11}" - "${all[@]:11}" - - -; }
rollout() { # DIR: prompts of 4, 3 and 2 tokens in chunks of at most 4 tokens a pass, the last token is never read
  local rank=rank${HALF:-0}
  LAST='0:2 2:0' forward "$1/step0/$rank" 4, 0.0000002 0:0 0:1 0:2 2:0
  LAST='0:3 1:1 2:1' forward "$1/step1/$rank" 4, 0.0000002 0:3 1:0 1:1 2:1
  LAST='0:4 1:2' forward "$1/step2/$rank" 2, 0.0000002 0:4 1:2
  LAST='1:3' forward "$1/step3/$rank" 1, 0.0000002 1:3
}
at_once() { # DIR: the same passes as calls in one step
  local pass=0
  for pass in 0 1 2 3; do
    call=$pass
    case $pass in
      0) LAST='0:2 2:0' forward "$1/step0/rank0" 4, 0.0000002 0:0 0:1 0:2 2:0 ;;
      1) LAST='0:3 1:1 2:1' forward "$1/step0/rank0" 4, 0.0000002 0:3 1:0 1:1 2:1 ;;
      2) LAST='0:4 1:2' forward "$1/step0/rank0" 2, 0.0000002 0:4 1:2 ;;
      3) LAST='1:3' forward "$1/step0/rank0" 1, 0.0000002 1:3 ;;
    esac
  done
  call=0
}

# looked_up DIR (SHAPE ROWS)...: tables of so many rows are looked up by functions, with ids of such shapes.
looked_up() {
  dir=$1/step0/rank0 data=''
  local number=0 one ids rows values
  shift
  mkdir -p "$dir/dump_tensor_data"
  while (($# > 0)); do
    read -ra ids <<<"$(seq -s ' ' 1 $((${1//,/*})))"
    read -ra rows <<<"$(seq -s ' ' 1 $(($2 * 2)))"
    read -ra values <<<"$(seq -s ' ' 1 $((${1//,/*} * 2)))"
    one=Functional.embedding.$number.forward
    module $one "$(tensor $one.input.0 int64 "$1" "${ids[@]}"),$(tensor $one.input.1 float32 "$2, 2" "${rows[@]}")" \
      "$(tensor $one.output.0 float32 "$1, 2" "${values[@]}")"
    ((number += 1))
    shift 2
  done
  printf '{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$dir/dump.json"
}
