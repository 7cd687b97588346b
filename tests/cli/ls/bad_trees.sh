# Links in a circle, names no terminal should see, two files of one tensor, nothing at all.
mkdir -p dump/a
name=Add.Default_Add-op1.0.0.1700000000000001.output.0.DefaultFormat
npy "dump/$name.npy" '<f4' '(1,)' '\0\0\x80\x3f'
npy "dump/a/$name.npy" '<f4' '(1,)' '\0\0\x80\x3f'
npy "dump/a/$name.Float32.npy" '<f4' '(1,)' '\0\0\x80\x3f'
ln -s .. dump/a/up
ln -s nowhere dump/a/dangling
npy "dump/Add.bad"$'\e[31m'"name.0.0.1700000000000001.output.0.DefaultFormat.npy" '<f4' '(1,)' '\0\0\x80\x3f'
echo 'a thing of another kind' >dump/README.txt
show msdump ls dump
msdump ls dump --jsonl -q 2>&- | jq -c '[.path, .occurrence]'
mkdir empty
show msdump ls empty
show msdump ls dump/README.txt
show msdump ls missing dump
