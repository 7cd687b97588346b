# A bound of a search that can change the answer is told: in a note and in summary.limits; empty where none was reached.
call() { # FOLDER NUMBERS: a call with one output of 4x4 numbers
  mkdir -p "$1/dump_tensor_data"
  # shellcheck disable=SC2086  # numbers on purpose
  npy "$1/dump_tensor_data/Functional.add.0.forward.output.0.npy" '<f4' '(4, 4)' "$(f32 $2)"
  echo '{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{"Functional.add.0.forward":
    {"input_kwargs":{},"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[4,4],
      "data_name":"Functional.add.0.forward.output.0.npy"}]}}}' >"$1/dump.json"
}
call cut/step0/rank0 '3 1 4 1.5 9 2.6 5 3.5 8 9.7 9.3 2.3 8.4 6 2 6.4'
call same/step0/proc0 '3 1 4 1.5 9 2.6 5 3.5 8 9.7 9.3 2.3 8.4 6 2 6.4'
call other/step0/proc0 '2 7.1 8 2.8 1.8 2.8 4.5 9 0.4 5.2 3.5 3.6 0.2 8.7 4.7 1.3'
for ((rank = 1; rank < 192; ++rank)); do cp -r cut/step0/rank0 "cut/step0/rank$rank"; done
for reference in same other; do
  msdump diff cut $reference --json 2>notes | jq -c '.summary.limits'
  grep -e limit -e 'tensor compared' notes
done

# Parameters of which none has the name of another: too many to match each by its values.
checkpoint() { # PATH NUMBER: names that end in its letters
  local names
  names=$(awk -v last="$2" 'BEGIN {
    for (i = 0; i < 520; i++) {
      name = ""
      for (rest = i; rest > 0 || name == ""; rest = int(rest / 26)) name = name sprintf("%c", 97 + rest % 26)
      printf "%s\"%s%s\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[%d,%d]}", i ? "," : "", name, last, 16 * i, 16 * i + 16
    }
  }')
  safetensors "$1" "{$names}"
  head -c $((520 * 16)) /dev/zero >>"$1"
}
checkpoint a.safetensors _x
checkpoint b.safetensors _y
msdump diff a.safetensors b.safetensors --json 2>notes | jq -c '.summary.limits[]'
grep limit notes
# Parts of a run give the same.
for part in 1 2; do msdump diff cut other -q --shard "$part/2" -out "part$part"; done
msdump merge part1 part2 --json 2>/dev/null | jq -c '.summary.limits[]'
