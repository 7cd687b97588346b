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

# files DIR: what is there, one path a line.
files() { (cd "$1" && find . -type f | LC_ALL=C sort); }

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
