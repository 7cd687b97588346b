# A folder of many layouts names the one that most files have; where no name says anything, the files are to be looked into.
mkdir -p a/rank_0/Net/0/0 a/rank_1/Net/0/0 b/net/device_0/iteration_0 c/20240102030405/0/1/2 d/step0/rank0/dump_tensor_data
for n in 1 2; do : >"a/rank_0/Net/0/0/Add.Default_Add-op$n.0.0.173390544681979$n.output.0.DefaultFormat.npy"; done
: >a/rank_1/Net/0/0/Add.Default_Add-op1.0.0.1733905446819790.output.0.DefaultFormat.npy
: >b/net/device_0/iteration_0/Add.Default_Add-op1.0.0.1733905446819790
: >c/20240102030405/0/1/2/Add.Default_Add-op1.0.0.1733905446819790
: >d/step0/rank0/dump_tensor_data/Functional.add.0.forward.output.0.npy
show msdump info a b c d
show msdump info .
mkdir odd
: >odd/what
show msdump info odd
