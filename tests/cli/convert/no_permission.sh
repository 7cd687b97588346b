# What may not be read is named and costs only itself; an OUT that may not be written is found before the work.
mkdir -p dump/closed readonly
for n in 1 2; do dump_file "dump/Relu.n$n.$n.7.170000000000000$n" 3 '1 1 2 2 16' '1 5 2 2'; done
chmod 000 dump/Relu.n2.2.7.1700000000000002 dump/closed
chmod 555 readonly
# root without the capability that lets it read and write everything is a user like any other.
drop() { if ((EUID == 0)); then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
drop msdump convert -d dump -out out -f NCHW
echo "exit $?"
drop msdump convert -d dump -out readonly/npy -f NCHW
echo "exit $?"
files out
