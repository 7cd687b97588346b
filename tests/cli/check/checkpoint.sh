# A checkpoint in two files with an index: what does not fit, what is not finite, which rows are dead.
weights='{"fc.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"fc.bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}}'
head='{"head.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"norm.weight":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}}'
one='\0\0\x80\x3f' nan='\0\0\xc0\x7f' zero='\0\0\0\0'
index() {
  printf '{"metadata":{"total_size":%s},"weight_map":{"fc.weight":"model-1.safetensors","fc.bias":"model-1.safetensors",' "$2"
  printf '"head.weight":"%s","norm.weight":"model-2.safetensors"}}\n' "$3"
} >"$1/model.safetensors.index.json"
mkdir good bad
safetensors bad/model-1.safetensors "$weights" "$one$one$nan$one$zero$zero"
safetensors good/model-1.safetensors "$weights" "$one$one$zero$one$zero$zero"
safetensors good/model-2.safetensors "$head" "$one$one$zero$zero"'\0\x3c\0\x3c'
index good 44 model-2.safetensors
show msdump check -d good
show msdump check -d good --all
index good 45 model-2.safetensors
show msdump check -d good
show msdump info good/model.safetensors.index.json
index bad 44 model-2.safetensors
show msdump check -d bad
show msdump info bad
show msdump info bad/model.safetensors.index.json --json | grep -o '"detail":{[^}]*}'
cp good/model-2.safetensors bad
index bad 44 model-1.safetensors
show msdump check -d bad --rule none --rule incomplete_checkpoint
index bad 44 ../good/model-2.safetensors
show msdump check -d bad --rule none --rule incomplete_checkpoint
