# Checkpoints that are divided over ranks, in one way or two: the parts are put together, and compared as whole parameters.
up='1 9 2 8 3 7 4 6 5 11 13 12' norm='1 1.5 2'
# shards DIR UP0 UP1 DOWN0 DOWN1 NORM0 NORM1: `up` is divided along axis 0, `down` along axis 1; all ranks have `norm`.
shards() {
  local dir=$1 rank
  shift
  for rank in 0 1; do
    checkpoint "$dir/net_rank_$rank-3_10.safetensors" layers.0.up 2,3 "${*:1+rank:1}" layers.0.down 3,2 "${*:3+rank:1}" \
      norm 3 "${*:5+rank:1}" final 2 '7 8' bias 2 '9 8'
  done
}
whole() { checkpoint "$1" layers.0.up 4,3 "$up" layers.0.down 3,4 "$up" norm 3 "$norm" final 2 '7 8' bias 2 '9 8'; }
half=('1 9 2 8 3 7' '4 6 5 11 13 12') left='1 9 3 7 5 11' right='2 8 4 6 13 12'
whole whole/model.safetensors
shards good "${half[@]}" "$left" "$right" "$norm" "$norm"
show msdump diff --all good whole
msdump diff -q whole good --json | jq -c '.summary.same, ([.rows[] | .reference_layout] | unique)'

# One element of the second rank; the norm of the second rank, on either side.
shards element "${half[@]}" "$left" '2 8 4 7 13 12' "$norm" "$norm"
show msdump diff element whole
shards apart "${half[@]}" "$left" "$right" "$norm" '1 1.5 3'
for sides in 'apart whole' 'whole apart'; do
  read -ra dirs <<<"$sides"
  msdump diff -q "${dirs[@]}" --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict]'
done

# The parts of the ranks are exchanged, one is missing, or a rank lacks a parameter.
shards exchanged "${half[1]}" "${half[0]}" "$right" "$left" "$norm" "$norm"
msdump diff -q exchanged whole --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict]'
shards lost "${half[@]}" "$left" "$right" "$norm" "$norm"
checkpoint lost/net_rank_1-3_10.safetensors layers.0.down 3,2 "$right" norm 3 "$norm" final 2 '7 8' bias 2 '9 8'
msdump diff -q lost whole --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict, .reason]'
rm lost/net_rank_1-3_10.safetensors
checkpoint lost/net_rank_2-3_10.safetensors layers.0.up 2,2 '4 6 5 11' layers.0.down 3,2 "$right" norm 3 "$norm" final 2 '7 8' bias 2 '9 8'
msdump diff -q lost whole --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict, .reason]'

# Stages of a pipeline that number their layers from 0, each in two parts, and versions of it.
for step in 0000005 0000010; do
  for stage in 0 1; do
    for rank in 0 1; do
      add=$([[ $step$stage$rank != 000001011 ]] && echo 5 || echo 6)
      checkpoint "stages/iter_$step/mp_rank_0${rank}_00$stage/model.safetensors" \
        layers.0.up 2,3 "$stage $((rank + 3)) 2 8 3 $add"
    done
  done
  checkpoint "joined/iter_$step/model.safetensors" layers.0.up 4,3 '0 3 2 8 3 5 0 4 2 8 3 5' \
    layers.1.up 4,3 '1 3 2 8 3 5 1 4 2 8 3 5'
done
show msdump diff stages joined
rm -r joined/iter_0000005
msdump diff -q stages joined --json | jq -c '.summary | .same, .differ, .unmatched'
show msdump ls -d stages --step 5 --rank 1

# Several versions, of which the other side has one under a name of its own.
checkpoint versions/net-1_10.safetensors w 2 '1 2'
checkpoint versions/net-2_10.safetensors w 2 '1 3'
checkpoint version/final.safetensors w 2 '1 2'
show msdump diff --all versions version
# That with the same name counts. Of versions with numbers, the first of each side, if they have none in common.
checkpoint named/net-2_10.safetensors w 2 '1 3'
msdump diff versions named --json 2>notes >/dev/null
cat notes
for step in 5 10 20 30; do
  checkpoint "numbers$((step / 20))/iter_$step/a.safetensors" w 2 "1 $((step < 20 ? step : step / 4))"
done
msdump diff numbers0 numbers1 --json 2>notes >/dev/null
cat notes

# But a layer that is missing is not a version.
cp versions/net-1_10.safetensors versions/layer_1.safetensors
cp versions/net-2_10.safetensors versions/layer_2.safetensors
rm versions/net-*
for other in layer_2 last; do
  mv version/*.safetensors "version/$other.safetensors"
  msdump diff -q versions version --json | jq -c '[.rows[] | .op_name, .verdict]'
done

# Parameters of FSDP2, of which one rank has nothing of a scale: its shards are as the file states them.
cmake -E tar xf "$TESTDATA/recorded/torch.tar.zst"
mkdir parameters
cp torch/fsdp2/model_* parameters
show msdump diff --all --rtol 1e-3 parameters torch/whole.pt
msdump diff -q parameters torch/whole.pt --json | jq -c '[.rows[] | select(.op_name == "scale") | .layout_confidence]'
# The names say no rank, and count the files in another order: the DTensors state it.
mkdir unnamed
cp parameters/model_world_size_2_rank_0.pt unnamed/ckpt_1.pt
cp parameters/model_world_size_2_rank_1.pt unnamed/ckpt_0.pt
msdump ls -d unnamed --csv | cut -d, -f2,5 | head -4
rows() { msdump diff -q --rtol 1e-3 "$@" --json | jq -c '.rows[] | [.op_name, .verdict, .layout, .ranks]'; }
diff <(rows parameters torch/whole.pt) <(rows unnamed torch/whole.pt) && echo the same
# As Llama's are named: the content of a .pth says that it is a checkpoint, and its name the rank.
mkdir llama
for rank in 0 1; do cp "parameters/model_world_size_2_rank_$rank.pt" llama/consolidated.0$rank.pth; done
msdump ls -d llama --csv | cut -d, -f2,5 | head -3
diff <(rows parameters torch/whole.pt) <(rows llama torch/whole.pt) && echo the same
# Equal parts may be copies or summands: what the file states counts.
checkpoint once/whole.safetensors partial 4,6 "$(seq -s ' ' 0 23)" copies 4,6 "$(seq -s ' ' 0 23)"
checkpoint twice/whole.safetensors partial 4,6 "$(seq -s ' ' 0 2 46)" copies 4,6 "$(seq -s ' ' 0 2 46)"
for whole in once twice; do
  msdump diff -q torch/forms $whole --json | jq -c '[.rows[] | select(.op_name == "partial" or .op_name == "copies") | .op_name, .verdict, .layout]'
done
# So it does for one that is transposed and has another name.
columns() { for column in 0 1 2 3 4 5; do for row in 0 1 2 3; do echo $((2 * (row * 6 + column))); done; done; }
values=$(seq -s ' ' 0 23)
checkpoint turned/whole.safetensors other 6,4 "$(columns | tr '\n' ' ')" cols 4,6 "$values" copies 4,6 "$values" \
  parameter 4,6 "$values" half 4,6 "$values"
msdump diff -q torch/forms turned --json | jq -c '.rows[] | select(.op_name == "partial") | [.verdict, .layout, .reason]'
# Layers with equal keys, a file each, on every rank.
for layer in 0 1; do
  for rank in 0 1; do checkpoint "layers/rank_$rank/layer_$layer.safetensors" w 1,3 "$((layer * 9 + rank)) 2 $((rank * 5 + layer))"; done
  checkpoint "layers_whole/layer_$layer.safetensors" w 2,3 "$((layer * 9)) 2 $layer $((layer * 9 + 1)) 2 $((5 + layer))"
done
msdump diff -q layers layers_whole --json | jq -c '.rows[] | [.op_name, .verdict, .layout]'
# Without one of the files, the others are still those of their layers.
rm layers/rank_1/layer_0.safetensors
msdump diff -q layers layers_whole --json | jq -c '.rows[] | [.op_name, .verdict, .layout, .reason]'
