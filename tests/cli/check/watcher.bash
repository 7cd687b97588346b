# A dump of CANN's watcher mode.
# shellcheck shell=bash
# snapshot DIR TYPE NAME NUMBER: NAME's output, or LAYER_To_NAME, of fp16 (4, 8), with NUMBER as task and time; zeros.
snapshot() {
  mkdir -p "$1"
  dump_file "$1/$2.$3.$4.0.170000000000000$4" 2 '4 8' '4 8'
}
# written FILE ROW TEXT: 16 bytes are a row.
written() { printf '%s' "$3" | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 64 + 16 * $2)) conv=notrunc status=none; }
