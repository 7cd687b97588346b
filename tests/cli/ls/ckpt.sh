# A checkpoint of MindSpore: a parameter of rank 2, one in two pieces as large ones are written, a scalar, a text.
# shellcheck disable=SC2059  # escapes on purpose
# value TAG TYPE DIMS BYTES, all as printf's escapes; lengths below 128.
value() {
  local dims='' dim tensor
  for dim in $3; do dims+="\\x08\\x$(printf %02x "$dim")"; done
  tensor="$dims$(field 12 "$2")$(field 1a "$4")"
  field 0a "$(field 0a "$1")$(field 12 "$tensor")"
}
length() { printf "$1" | wc -c; }
field() { printf '%s' "\\x$1\\x$(printf %02x "$(length "$2")")$2"; }
one='\x00\x00\x80\x3f' two='\x00\x00\x00\x40' three='\x00\x00\x40\x40'
mkdir -p rank_2
{
  printf "$(value fc.weight Float32 '2 2' "$one$two$three$one")"
  printf "$(value table Float32 '3' "$one$two\\x00\\x00")$(value table Float32 '3' '\x40\x40')"
  printf "$(value step Int32 0 '\x07\x00\x00\x00')$(value note str 4 text)crc_num0123456789"
} >rank_2/net.ckpt
show msdump ls -d .
show msdump stats -d . --exact --columns max,min,l2norm
show msdump info rank_2/net.ckpt --values
show msdump diff rank_2 rank_2
head -c 60 rank_2/net.ckpt >cut.ckpt
show msdump ls -d cut.ckpt
show msdump check -d cut.ckpt
