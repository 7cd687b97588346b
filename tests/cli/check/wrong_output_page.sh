# JUnit and page of an operator that is wrong by its own inputs: where, the worst element, what it was asked. A box in two axes is drawn.
# product DIR AXES CHANGED: 3 * x of 24 numbers, 7 more at the indices CHANGED.
product() {
  local dir=$1/rank_0/Net/0/0 numbers x=() y=()
  mapfile -t numbers < <(awk -v changed=" $3 " 'BEGIN {
    for (i = 0; i < 24; i++) { x = i % 5 + i / 8 + 1; printf "%.9g\n%.9g\n", x, 3 * x + (index(changed, " " i " ") ? 7 : 0) }
  }')
  for ((i = 0; i < 48; i += 2)); do x+=("${numbers[i]}") y+=("${numbers[i + 1]}"); done
  mkdir -p "$dir" "$1/rank_0/graphs"
  npy "$dir/Mul.Default_Mul-op0.0.0.1700000000000001.input.0.DefaultFormat.Float32.npy" '<f4' "$2" "$(f32 "${x[@]}")"
  npy "$dir/Mul.Default_Mul-op0.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy" '<f4' "$2" "$(f32 "${y[@]}")"
  ir_node 0 Mul '%para1_x, F32(3)' Default/Mul-op0 11 | ir_graph 0 >"$1/rank_0/graphs/ms_output_trace_code_graph_0.ir"
}
cause() { sed -n '/<section class="cause"/,/<\/section>/p' "$1" | grep -v '^</\?div\|^</table\|^</dl\|^<dl'; }

product flat '(4,6)' '8 9 14 15'
product flat_right '(4,6)' ''
msdump check flat --rule none --rule wrong_output --junit x.xml --report x.html -q
grep -A1 '<failure' x.xml
cause x.html
grep -o '<p class="answer.*' x.html
msdump diff flat flat_right --report d.html -q >rows
cause d.html

# Three axes: as text.
product deep '(2,3,4)' '5 6 9'
msdump check deep --rule none --rule wrong_output --report y.html -q >rows
grep -c '<svg class="region' x.html d.html y.html
cause y.html | grep -A1 'region\|worst'

# What was done instead.
product handed '(4,6)' ''
cp handed/rank_0/Net/0/0/*.input.0.* "$(echo handed/rank_0/Net/0/0/*.output.0.*)"
msdump check handed --rule none --rule wrong_output --junit x.xml --report x.html -q >rows
grep -o 'as if[^"(]*' x.xml | head -1
cause x.html | grep instead
