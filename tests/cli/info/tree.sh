# A tree of arrays is told from names and sizes: what is there, and what is odd. Nothing below it is opened.
net=dump/rank_0/Net/0
array() { npy_file "$net/$1/Add.Default_Add-op$2.0.0.17339054468197$2.$3.0.DefaultFormat.float32.npy" '<f4' '(2, 3)' 24; }
for step in 0 1 2; do
  mkdir -p "$net/$step"
  array "$step" 10 input
  array "$step" 11 output
done
rm "$net/2/Add.Default_Add-op11.0.0.1733905446819711.output.0.DefaultFormat.float32.npy"
: >"$net/1/Add.Default_Add-op10.0.0.1733905446819710.input.0.DefaultFormat.float32.npy"
mkdir -p dump/rank_0/.dump_metadata "$net/3"
echo '{"device_target":"CPU","ms_version":"2.7.0"}' >dump/rank_0/.dump_metadata/config.json
echo hello >dump/notes.txt
chmod 000 "$net"/0/*
msdump info dump
echo "exit $?"
msdump info -q dump/rank_0/Net/0/1
