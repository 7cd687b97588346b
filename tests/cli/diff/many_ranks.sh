# Equal runs over numbers of ranks with many divisors are the same, also where there are fewer descriptors than ranks. A rank
# of --layout is bounded.
call() { # FOLDER ROWS BYTES: one call; its output has so many rows of two numbers
  local name=Functional.add.0.forward list='' tensor
  mkdir -p "$1/dump_tensor_data"
  npy "$1/dump_tensor_data/$name.input.0.npy" '<f4' '(8, 2)' "$input"
  npy "$1/dump_tensor_data/$name.output.0.npy" '<f4' "($2, 2)" "$3"
  for tensor in 'input_args 8 input' "output $2 output"; do
    read -r key rows io <<<"$tensor"
    list+=",\"$key\":[{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[$rows,2],\"data_name\":\"$name.$io.0.npy\"}]"
  done
  printf '{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{"%s":{"input_kwargs":{}%s}}}' \
    "$name" "$list" >"$1/dump.json"
}
compared() { # ARGUMENT...: the summary and the exit code
  msdump diff "$@" 2>&1 | grep -e ' compared' -e error
  echo "exit ${PIPESTATUS[0]}"
}
input=$(f32 3 1 4 1.5 9 2.6 5 3.5 8 9.7 9.3 2.3 8.4 6 2 6.4)
for ranks in 120 192 256; do
  mapfile -t numbers < <(awk "BEGIN { for (i = 0; i < 2 * $ranks; i++) printf \"%.6g\\n\", sin(i * i + 1) }")
  output=$(f32 "${numbers[@]}")
  call "one$ranks/step0/proc0" "$ranks" "$output"
  for ((rank = 0; rank < ranks; ++rank)); do call "cut$ranks/step0/rank$rank" 1 "${output:rank * 32:32}"; done
  compared "cut$ranks" "one$ranks"
done
(
  ulimit -n 64
  compared cut256 one256 -j 8
)
for ranks in 9223372036854775807 0-4294967296; do
  echo "* = copy(ranks=$ranks)" >layout
  compared cut120 one120 --layout layout
done
