# A dump with nothing but a folder that may not be read: the folder is named.
npy a.npy '<f4' '(1,)' '\0\0\200?'
mkdir -p dump/closed
chmod 000 dump/closed
drop() { if ((EUID == 0)); then setpriv --inh-caps=-all --bounding-set=-all "$@"; else "$@"; fi; }
show drop msdump diff dump a.npy --profile msaccucmp
show drop msdump diff a.npy dump --profile msaccucmp
chmod 755 dump/closed
