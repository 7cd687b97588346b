# Where a dump lacks what made a wrong value, the next one has it, and not its reader alone.
short() { grep -v '^ *[]"{}[]\|^reference:\|^$'; }

# MindSpore: the IR says that Mul made it; only what comes after Mul was dumped.
scaled_net ref
scaled_net bad 4
rm {ref,bad}/rank_0/Net/0/0/Mul.*
msdump next -d bad --ref ref | short
msdump next -d bad --ref ref --json | jq -c '.rows[0] | [.state, .only_reads, .op_name, [.candidates[].op_name]]'
msdump next -d bad --ref ref --json | jq -r .configuration.candidate |
  jq -c '.common_dump_settings | [.dump_mode, .input_output, .saved_data, .kernels]'
# The answer of diff stands for the dumps, and its reader may go.
msdump diff bad ref -q --json >answer.json
msdump next -d answer.json | short | head -n 2
msdump next -d answer.json | head -n 1 >first && cat first
# Without the IR the dump could have begun there; --config says that it is a part, and then everything is asked for.
rm -r {ref,bad}/rank_0/graphs
show msdump next -d bad --ref ref
data_dump '"dump_mode": 1, "kernels": ["Default/Add-op0"]' >used.json
msdump next -d bad --ref ref --config used.json | short

# A dump of gradients alone began inside a step, whatever is said of it.
for side in ref bad; do
  value=$([[ $side == ref ]] && echo 2 || echo 3)
  for number in 1 2 3 4 5 6 7 8 9 10; do
    dumped $side-late Mul.Gradients_Default_Mul-op$number $((number - 1)) input.0 "$value" 1 2 $number
    dumped $side-late Mul.Gradients_Default_Mul-op$number $((number - 1)) output.0 "$value" 1 2 $((number + 1))
  done
done
msdump next -d bad-late --ref ref-late | short

# Where no operator has its inputs they are asked for.
for side in ref bad; do
  dumped $side-outputs Abs.Default_Abs-op0 1 output.0 1 2 3
  dumped $side-outputs Mul.Default_Mul-op1 2 output.0 "$([[ $side == ref ]] && echo 2 || echo 5)" 4 6
done
msdump next -d bad-outputs --ref ref-outputs | short

# Equal dumps ask nothing. A case keeps that its first dump is a part; MindSpore takes no path with a dot.
show msdump next -d ref --ref ref
work=$(mktemp -d /tmp/msdump-next-XXXXXX)
trap 'rm -r "$work"' EXIT
msdump next -d bad-late --ref ref-late -out "$work/case" -q >all
jq -c '[.rounds[].extent]' "$work/case/case.json"
