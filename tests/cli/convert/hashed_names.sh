# Hashed names get their real ones from the mapping.csv beside them, unless those would lead out of OUT or clash; names
# too long for a file are hashed in OUT.
mkdir dump
name=12345678901234567890123456789012
dump_file "dump/$name" 3 '1 1 2 2 16' '1 5 2 2'
dump_file dump/11111111111111111111111111111111 3 '1 1 2 2 16' '1 5 2 2'
dump_file dump/22222222222222222222222222222222 3 '1 1 2 2 16' '1 5 2 2'
dump_file dump/33333333333333333333333333333333 3 '1 1 2 2 16' '1 5 2 2'
long=$(printf 'n%.0s' {1..260})
{
  echo "$name,Relu.real.1.7.1700000000000001"
  echo "11111111111111111111111111111111,Relu.../../../../escape.1.7.1700000000000002"
  echo "22222222222222222222222222222222,Relu.real.1.7.1700000000000001"
  echo "33333333333333333333333333333333,Relu.$long.1.7.1700000000000003"
} >dump/mapping.csv
msdump convert -d dump -out npy -f NCHW
echo "exit $?"
ls
files npy
cut -c1-60 npy/mapping.csv
