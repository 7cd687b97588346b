# What every case finds defined.
# shellcheck shell=bash

# show COMMAND...: the command, all it prints (stderr too) and its exit code, on stdout. For cases that are a list of
# commands, each with an outcome of its own.
show() {
  local status=0
  printf '$ %s\n' "$*"
  "$@" 2>&1 || status=$?
  printf '[exit %d]\n' "$status"
}

# varint NUMBER: as protobuf writes it, in printf's escapes.
varint() {
  local n=$1
  while ((n > 127)); do
    printf '\\x%02x' $((n & 127 | 128))
    ((n >>= 7))
  done
  printf '\\x%02x' "$n"
}

# escaped_length TEXT: bytes of a text of \xNN escapes.
escaped_length() { echo $((${#1} / 4)); }

# shape_field TAG DIM...: a Shape message as a field.
shape_field() {
  local tag=$1 dims='' dim
  shift
  for dim in "$@"; do dims+=$(varint "$dim"); done
  dims="\\x0a$(varint "$(escaped_length "$dims")")$dims"
  printf '%s%s%s' "$tag" "$(varint "$(escaped_length "$dims")")" "$dims"
}

# dump_file PATH FORMAT_NUMBER "DEVICE DIMS" "HOST DIMS" [BYTES]: a dump file with one fp16 output of zeros, as a sparse
# file, so that a large one costs nothing. BYTES: how much of the data is there (default: all).
dump_file() {
  local path=$1 format=$2 size=2 dim output length
  # shellcheck disable=SC2086  # lists on purpose
  for dim in $3; do size=$((size * dim)); done
  # shellcheck disable=SC2086
  output="\\x08\\x02\\x10$(varint "$format")$(shape_field '\x1a' $3)\\x30$(varint "$size")$(shape_field '\x3a' $4)"
  output="\\x1a$(varint "$(escaped_length "$output")")$output"
  length=$(escaped_length "$output")
  # shellcheck disable=SC2059  # escapes on purpose
  printf "\\x$(printf %02x $((length & 255)))\\x$(printf %02x $((length >> 8)))\\0\\0\\0\\0\\0\\0$output" >"$path"
  truncate -s $((8 + length + ${5:-size})) "$path"
}

# npy PATH DESCR SHAPE [BYTES]: an .npy file, data as printf's escapes: npy a.npy '<i4' '(2,)' '\x01\0\0\0\x02\0\0\0'
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }" length
  length=$(((${#header} + 1 + 10 + 63) / 64 * 64 - 10))
  # shellcheck disable=SC2059  # escapes on purpose
  {
    printf '\x93NUMPY\1\0'
    printf "\\x$(printf %02x $((length & 255)))\\x$(printf %02x $((length >> 8)))"
    printf '%-*s\n' $((length - 1)) "$header"
    printf "${4:-}"
  } >"$1"
}

# safetensors PATH HEADER [BYTES]: a .safetensors file, data as printf's escapes.
safetensors() {
  local length=${#2} i
  # shellcheck disable=SC2059  # escapes on purpose
  {
    for ((i = 0; i < 8; ++i)); do printf "\\x$(printf %02x $((length >> 8 * i & 255)))"; done
    printf '%s' "$2"
    printf "${3:-}"
  } >"$1"
}

# checkpoint PATH {NAME SHAPE "VALUE..."}...: a .safetensors file of float32 parameters.
checkpoint() {
  local path=$1 header='' data='' at=0 values
  shift
  while (($# > 0)); do
    read -ra values <<<"$3"
    header+="${header:+,}\"$1\":{\"dtype\":\"F32\",\"shape\":[$2],\"data_offsets\":[$at,$((at += 4 * ${#values[@]}))]}"
    data+=$(f32 "${values[@]}")
    shift 3
  done
  mkdir -p "${path%/*}"
  safetensors "$path" "{$header}" "$data"
}

# files DIR: what is there but for the settings of convert, one path a line.
files() { (cd "$1" && find . -type f ! -name .msdump-convert.json | LC_ALL=C sort); }

# npy_file PATH DESCR SHAPE BYTES: an .npy file, its elements zeros.
npy_file() {
  local literal="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$literal" >"$1"
  head -c "$4" /dev/zero >>"$1"
}

# ir_node NUMBER TYPE OPERANDS NAME LINE: an operator of an IR text, with one line of net.py as its source.
ir_node() {
  printf '  %%%s(CNode_%s) = %s(%s)\n      : (<Tensor[Float32], (2)>) -> (<Tensor[Float32], (2)>)\n' "$1" "$1" "$2" "$3"
  printf '      # Fullname with scope: (%s)\n      # In file /home/user/net.py:%s, 8~20/x = f%s(x)/\n' "$4" "$5" "$5"
}

# ir_graph [ID]: the operators on stdin as an IR text.
ir_graph() {
  printf '# IR entry: @kernel_graph%s\n# Total subgraphs: 1\n\n# Total params: 1\n# Params:\n' "${1:-0}"
  printf '%%para1_x: <Tensor[Float32], (2)>\n\nsubgraph @kernel_graph%s() {\n' "${1:-0}"
  cat
  echo '}'
}

# two_floats PATH [BYTES]: an .npy file of two floats.
two_floats() { npy "$1" '<f4' '(2,)' "${2:-\0\0\0\0\0\0\0\0}"; }

# data_dump [COMMON] [E2E]: a data_dump.json that nothing can be said of, with more keys in its sections.
data_dump() {
  cat <<JSON
{
  "common_dump_settings": {
    "dump_mode": 0,
    "path": "/home/user/dump",
    "net_name": "Net",
    "iteration": "0|5-8",
    "input_output": 0,
    "kernels": [],
    "support_device": [0, 1, 2, 3, 4, 5, 6, 7]${1:+,
    $1}
  },
  "e2e_dump_settings": {
    "enable": true,
    "trans_flag": true${2:+,
    $2}
  }
}
JSON
}

# f32 NUMBER...: as float32, in printf's escapes. nan, inf and -inf are numbers, too.
f32() {
  printf '%s\n' "$@" | awk '
    function bytes(high, low) { return sprintf("\\x%02x\\x%02x\\x%02x\\x%02x", low % 256, low / 256, high % 256, high / 256) }
    $1 == "nan" { printf "%s", bytes(32704, 0); next }
    $1 == "inf" || $1 == "-inf" { printf "%s", bytes($1 == "inf" ? 32640 : 65408, 0); next }
    $1 !~ /^[-+]?([0-9]+[.]?|[0-9]*[.][0-9]+)([eE][-+]?[0-9]+)?$/ { print "f32: not a number: " $1 >"/dev/stderr"; exit 1 }
    $1 == 0 { printf "%s", bytes(0, 0); next }
    {
      sign = $1 < 0 ? 32768 : 0
      value = $1 < 0 ? -$1 : $1
      for (exponent = 127; value >= 2; exponent++) value /= 2
      for (; value < 1; exponent--) value *= 2
      fraction = int((value - 1) * 8388608 + 0.5)
      printf "%s", bytes(sign + exponent * 128 + int(fraction / 65536), fraction % 65536)
    }'
}

# dumped DIR NAME TIME TENSOR NUMBER...: a tensor of an operator as MindSpore 2.10 names it, in step 0 of graph 0:
# dumped bad Mul.Default_Mul-op0 1 output.0 1.5 3
dumped() {
  local folder=$1/rank_0/Net/0/0 name=$2.0.0.170000000000000$3.$4.DefaultFormat.Float32.npy
  shift 4
  mkdir -p "$folder"
  npy "$folder/$name" '<f4' "($#,)" "$(f32 "$@")"
}

# scaled_net DIR [FACTOR [EXTRA]]: the dump of relu(x * FACTOR + x + EXTRA) for x = 1, -2, 3, 4, with its IR. What is
# right: FACTOR 2, EXTRA 0.
scaled_net() {
  local dir=$1 x=(1 -2 3 4) product=() sum=() relu=() one
  for one in "${x[@]}"; do
    product+=("$(awk "BEGIN { print $one * ${2:-2} }")")
    sum+=("$(awk "BEGIN { print $one * ${2:-2} + $one + ${3:-0} }")")
    relu+=("$(awk "BEGIN { y = $one * ${2:-2} + $one + ${3:-0}; print (y > 0 ? y : 0) }")")
  done
  dumped "$dir" Mul.Default_Mul-op0 1 input.0 "${x[@]}"
  dumped "$dir" Mul.Default_Mul-op0 1 input.1 "${2:-2}"
  dumped "$dir" Mul.Default_Mul-op0 1 output.0 "${product[@]}"
  dumped "$dir" Add.Default_Add-op0 2 input.0 "${product[@]}"
  dumped "$dir" Add.Default_Add-op0 2 input.1 "${x[@]}"
  dumped "$dir" Add.Default_Add-op0 2 output.0 "${sum[@]}"
  dumped "$dir" ReLU.Default_ReLU-op0 3 input.0 "${sum[@]}"
  dumped "$dir" ReLU.Default_ReLU-op0 3 output.0 "${relu[@]}"
  mkdir -p "$dir/rank_0/graphs" "$dir/rank_0/.dump_metadata"
  echo '{"ms_version":"2.10.0"}' >"$dir/rank_0/.dump_metadata/config.json"
  {
    ir_node 0 Mul "%para1_x, F32(${2:-2})" Default/Mul-op0 11
    ir_node 1 Add '%0, %para1_x' Default/Add-op0 12
    ir_node 2 ReLU '%1' Default/ReLU-op0 13
  } | ir_graph 0 >"$dir/rank_0/graphs/ms_output_trace_code_graph_0.ir"
}

# mul_net DIR chain|fan NOISE [NUMBER=FACTOR]...: the dump of twelve multiplications by 1 of sixteen numbers, with its IR.
# Each reads the result of the one before (chain) or the input (fan); two share a line of the script. Results have a
# relative error of up to NOISE, and those of number NUMBER are FACTOR times as large as they should be.
mul_net() {
  local dir=$1 shape=$2 noise=$3 numbers number in=() out=() node
  shift 3
  mapfile -t numbers < <(awk -v shape="$shape" -v noise="$noise" -v faults="$*" '
    function random() { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 1073741824 - 1 }
    BEGIN {
      split(faults, list, " ")
      for (i in list) { split(list[i], part, "="); factor[part[1]] = part[2] }
      for (i = 0; i < 16; i++) value[i] = (i % 3 ? 1 : -1) * (1 + i / 8)
      for (op = 0; op < 12; op++) {
        line = ""
        for (i = 0; i < 16; i++) line = line " " value[i]
        print line
        line = ""
        for (i = 0; i < 16; i++) {
          made = value[i] * (1 + noise * random()) * (op in factor ? factor[op] : 1)
          if (shape == "chain") value[i] = made
          line = line " " made
        }
        print line
      }
    }' OFMT=%.9g CONVFMT=%.9g)
  for ((number = 0; number < 12; number++)); do
    read -ra in <<<"${numbers[2 * number]}"
    read -ra out <<<"${numbers[2 * number + 1]}"
    dumped "$dir" "Mul.Default_Mul-op$number" $((10 + number)) input.0 "${in[@]}"
    dumped "$dir" "Mul.Default_Mul-op$number" $((10 + number)) output.0 "${out[@]}"
  done
  mkdir -p "$dir/rank_0/graphs" "$dir/rank_0/.dump_metadata"
  echo '{"ms_version":"2.10.0"}' >"$dir/rank_0/.dump_metadata/config.json"
  for ((number = 0; number < 12; number++)); do
    node=%para1_x
    [[ $shape == fan || $number == 0 ]] || node=%$((number - 1))
    ir_node "$number" Mul "$node, F32(1)" "Default/Mul-op$number" $((20 + number / 2))
  done | ir_graph 0 >"$dir/rank_0/graphs/ms_output_trace_code_graph_0.ir"
}
