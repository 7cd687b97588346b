# What may not be read is said, of a file and of a folder in a tree.
mkdir -p dump/closed
npy_file a.npy '<f4' '(2,)' 8
npy_file dump/b.npy '<f4' '(2,)' 8
chmod 000 a.npy dump/closed
# root without the capability that lets it read everything is a user like any other.
drop() { if ((EUID == 0)); then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
show drop msdump info -q a.npy
show drop msdump info -q dump
