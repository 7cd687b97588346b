# A month of nights, as the job of docs/ci.md runs them: an intended change that is accepted, a drift, and a break.
# dump DIR NIGHT [LAYER=ERROR...]: statistics of five layers, with noise of the night and the error that a layer has
dump() {
  mkdir -p "$1/step0/rank0"
  awk -v night="$2" -v faults="${*:3}" '
    function random() { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 1073741824 - 1 }
    function tensor(scale) {
      scale *= 1 + 2e-5 * random()
      return sprintf("{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [64], \"Max\": %.9g, \"Min\": %.9g, \"Mean\": %.9g, \"Norm\": %.9g}", 2.5 * scale, -1.5 * scale, 0.25 * scale, 8 * scale)
    }
    BEGIN {
      seed = night + 1
      split(faults, list, " ")
      for (i in list) { split(list[i], part, "="); error[part[1]] = part[2] }
      printf "{\"task\": \"statistics\", \"level\": \"L0\", \"framework\": \"pytorch\", \"dump_data_dir\": null, \"data\": {"
      for (layer = 0; layer < 5; layer++) {
        input = tensor(1)
        printf "%s\"Module.layers.%d.fc.Linear.forward.0\": {\"input_args\": [%s], \"input_kwargs\": {}, \"output\": [%s]}", layer ? ", " : "", layer, input, tensor(1 + error[layer])
      }
      print "}}"
    }' >"$1/step0/rank0/dump.json"
}

awk '/^```sh nightly.sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$TESTDATA/../docs/ci.md" >nightly.sh
dump reference 0
for ((night = 1; night <= 30; night++)); do
  faults=()
  ((night < 8)) || faults+=("1=0.02") # a new kernel, on purpose
  # Layer 3 loses a little more each night from the 14th on, and is put right in the 26th.
  ((night < 14 || night > 25)) || faults+=("3=$(awk -v n="$night" 'BEGIN { print 0.0003 * 1.15 ^ (n - 14) }')")
  ((night < 28)) || faults+=("2=0.3")
  rm -rf candidate
  dump candidate "$night" "${faults[@]}"
  [[ $night != 11 ]] || rm -rf candidate # the run of that night has failed
  date=$(printf '2026-11-%02d' "$night")
  NIGHT=$date sh nightly.sh candidate reference >log 2>&1 && code=0 || code=$?
  # The change is reviewed and accepted the next morning. The drift is a root in a few nights, and seen in the others.
  if [[ $night == 8 ]]; then msdump diff candidate reference --write-baseline accepted.json -q >/dev/null 2>&1 || true; fi
  printf '%s %s %s\n' "$date" "$code" "$(grep -o '<testsuites.*errors="[0-9]*"' diff.xml 2>/dev/null)"
  grep '^  root\|^  moved\|^red since' log || true
done
msdump history nights --show --jsonl | jq -r .outcome | cut -c 1 | tr -d '\n'
echo
head -n 5 diff.md
