# A call that one side alone has shows the line that the other script lacks, also where a caller was changed.
calls() { # DIR CALLER NUMBER...: a call of exp for each number, and a sum behind them
  local dir=$1/step0/rank0 caller=$2 data='' stack='' number=0
  mkdir -p "$dir"
  shift 2
  tensor() { printf '{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":%s,"Min":1.0,"Mean":%s,"Norm":%s}' "$1" "$1" "$1"; }
  ran() { # NAME INPUT OUTPUT FRAME...
    data+="${data:+,}\"$1\":{\"input_args\":[$(tensor "$2")],\"input_kwargs\":{},\"output\":[$(tensor "$3")]}"
    stack+="${stack:+,}\"${#stack}\":[[\"$1\"],[$4]]"
  }
  frame() { printf '"File /home/user/net.py, line %s, in forward, \\n %s"' "$1" "$2"; }
  while (($# > 1)); do
    ran "Torch.exp.$number.forward" "$1" "$2" "$(frame 3 'return torch.exp(x)'), $(frame 9 "$caller")"
    number=$((number + 1))
    shift
  done
  ran Torch.sum.0.forward "$1" "$1" "$(frame 10 'return x.sum()')"
  printf '{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}' "$data" >"$dir/dump.json"
  printf '{%s}' "$stack" >"$dir/stack.json"
}
calls once 'x = self.last(x)' 1.5 4.5
calls twice 'x = self.last(self.last(x))' 1.5 4.5 90
show msdump diff -q twice once
msdump diff -q --json twice once | jq -c '.rows[] | select(.verdict == "unmatched") | [.op_name, .source.line, .source.code]' | sort -u
