# A name out of a dump cannot steer the terminal of next.
for side in c r; do mkdir -p $side/rank_0/Net/0/0; done
name=$'Add.Default_\e]0;OWNED\a\e[31m_Add-op1.0.0.1733905446819700.output.0.DefaultFormat.npy'
npy "c/rank_0/Net/0/0/$name" '<f4' '(1,)' '\0\0\x80\x3f'
npy "r/rank_0/Net/0/0/$name" '<f4' '(1,)' '\0\0\x80\x40'
for side in c r; do npy "$side/rank_0/Net/0/0/${name/output/input}" '<f4' '(1,)' '\0\0\x80\x3f'; done
msdump next -d c --ref r | head -n 1
msdump next -d c --ref r | grep -c $'\e' || true
# An operator that no configuration can name is an error, and not a silent answer.
rm {c,r}/rank_0/Net/0/0/*.input.*
show msdump next -d c --ref r
