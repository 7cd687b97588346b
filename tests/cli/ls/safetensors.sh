# The parameters of a model in two shards: rows like any others, for every command.
one='{"fc.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"fc.bias":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"__metadata__":{"format":"pt"}}'
two='{"head.weight":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}'
mkdir a b
for side in a b; do
  safetensors $side/model-00001-of-00002.safetensors "$one" '\0\0\x80\x3f\0\0\0\x40\x80\x3f\x80\x3f'
  safetensors $side/model-00002-of-00002.safetensors "$two" '\0\x3c\0\x40'
  echo '{"metadata":{"total_size":16},"weight_map":{"fc.weight":"model-00001-of-00002.safetensors","fc.bias":"model-00001-of-00002.safetensors","head.weight":"model-00002-of-00002.safetensors"}}' >$side/model.safetensors.index.json
done
safetensors a/model-00002-of-00002.safetensors "$two" '\0\x3c\0\x7e'
show msdump ls -d a
show msdump ls -d a --op '*.weight' --jsonl | grep -o '"op_name":"[^"]*"'
show msdump info a/model-00001-of-00002.safetensors
show msdump stats -d a --columns max,min
show msdump diff a b
show msdump check -d a
show msdump convert -d a -out npy
files npy
# A header of some bytes before ten gigabytes of elements that are not there.
safetensors large.safetensors '{"w":{"dtype":"F32","shape":[2500000000],"data_offsets":[0,10000000000]}}'
truncate -s $((8 + 73 + 10000000000)) large.safetensors
show msdump ls -d large.safetensors
# Not by the format's rules.
safetensors cut.safetensors "$one" '\0\0\x80\x3f\0\0'
safetensors gap.safetensors '{"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}' 'ab'
safetensors bomb.safetensors ''
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{' >bomb.safetensors
show msdump ls -d cut.safetensors,gap.safetensors,bomb.safetensors
