# Tables of msprobe's second monitor.
# shellcheck shell=bash

# gradients_table FILE AT FACTOR: the gradients of 12 layers in 80 steps; from step AT on those of seven are FACTOR times larger.
gradients_table() {
  mkdir -p "$(dirname "$1")"
  awk -v at="$2" -v factor="$3" 'BEGIN {
    print "vpp_stage,step,module_name,scope,norm,min,max,nans"
    for (step = 0; step < 80; ++step) for (layer = 0; layer < 12; ++layer) {
      seed = (seed * 1103515245 + 12345) % 2147483648
      norm = (1 + 0.1 * seed / 2147483648) * (step >= at && layer < 7 ? factor : 1)
      printf "-1,%d,layers.%d.weight,reduced,%.6f,%.6f,%.6f,0.0\n", step, layer, norm, -norm / 3, norm / 2
    }
  }' >"$1"
}
