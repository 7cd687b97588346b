# A month of training runs: a change in the 8th night that is wanted, a drift, a run without a dump, and a break. For month.sh
# and for tests/recipes/run.
# shellcheck shell=bash

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

# run_of_night DIR NIGHT: the dump of that night's run, in place of what is there
run_of_night() {
  local faults=()
  (($2 < 8)) || faults+=("1=0.02") # a new kernel, on purpose
  # Layer 3 loses a little more each night from the 14th on, and is put right in the 26th.
  (($2 < 14 || $2 > 25)) || faults+=("3=$(awk -v n="$2" 'BEGIN { print 0.0003 * 1.15 ^ (n - 14) }')")
  (($2 < 28)) || faults+=("2=0.3")
  rm -rf "$1"
  (($2 == 11)) || dump "$1" "$2" "${faults[@]}" # the run of that night has failed
}
