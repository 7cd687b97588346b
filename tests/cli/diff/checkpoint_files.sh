# Keys that several files have (layers, ranks, versions one a file) are paired file by file, and rows name the file.
for side in a b; do
  for layer in 0 1 2 3; do
    # The reference's layer 2 has the values of the candidate's layer 3: values do not pair across files.
    from=$layer
    [[ $side$layer != b2 ]] || from=3
    checkpoint "$side/layer_$layer.safetensors" weight 2,2 "$from 1 $((from + 2)) 5" bias 2 "1 $((layer + 1))"
  done
done
show msdump diff a b

# Arrays that convert writes of them are the same parameters, also of ranks and versions.
msdump convert -q -d a -out arrays -f ND
show msdump diff arrays b
mkdir parts
for rank in 0 1; do checkpoint "parts/net_rank_$rank-1_1.safetensors" fc 2,2 "1 3 5 $rank" norm 2 '1 1'; done
checkpoint joined/model.safetensors fc 4,2 '1 3 5 0 1 3 5 1' norm 2 '1 1'
msdump convert -q -d parts -out converted -f ND
for side in parts joined; do msdump diff -q converted $side --json | jq -c '.summary | .same, .unmatched'; done

# A file that the other side lacks has no partner there, whatever its values are.
cp -r b c
mv c/layer_3.safetensors c/layer_7.safetensors
msdump diff -q c b --json | jq -c '[.rows[] | select(.verdict != "same") | .op_name, .verdict], .relations'

# Nor are parameters joined across files: q and k of encoder are not qk of decoder, but of encoder.
for file in decoder encoder; do
  checkpoint "j1/encoder.safetensors" bias 2 "1 2" q 2,3 "1 3 5 2 4 9" k 2,3 "6 1 8 3 7 2"
  checkpoint "j1/decoder.safetensors" bias 2 "3 2"
  for other in decoder encoder; do
    joined=(qk "4,3" "1 3 5 2 4 9 6 1 8 3 7 2")
    [[ $other == "$file" ]] || joined=()
    checkpoint "j2/$other.safetensors" bias 2 "$( [[ $other == encoder ]] && echo 1 2 || echo 3 2)" "${joined[@]}"
  done
  msdump diff -q j1 j2 --json | jq -c --arg file "$file" '[$file, [.relations[].kind], .summary.unmatched]'
done

# Versions and ranks: all are compared.
for side in a b; do
  for step in 5 10; do
    for rank in 00 01; do
      last=7
      [[ $side$step$rank != a1001 ]] || last=9
      checkpoint "m$side/iter_00000$step/mp_rank_$rank/model.safetensors" norm 2 "1 1" fc 2,2 "1 3 5 $last"
    done
  done
done
show msdump diff ma mb

# Values do not pair across ranks, nor across versions.
for place in rank_0 rank_1 iter_5 iter_10; do
  values=('1 3 5 7' '4 2 9 1')
  [[ $place != *[15] ]] || values=('4 2 9 1' '1 3 5 7')
  checkpoint "v${place%_*}a/$place/m.safetensors" wq 2,2 "${values[0]}"
  checkpoint "v${place%_*}b/$place/m.safetensors" other 2,2 "${values[1]}"
done
for kind in rank iter; do msdump diff -q v${kind}a v${kind}b --json | jq -c '.summary.unmatched'; done

# What differs on the two sides as a whole is no part of a file's name: folders, beginnings, suffixes.
for rank in 0 1; do
  last=7
  ((rank == 0)) || last=9
  checkpoint "ra/run_a/net_rank_$rank-1_1.safetensors" wq 2,2 "1 3 5 7"
  checkpoint "rb/out/model_rank_$rank-20_4.safetensors" wq 2,2 "1 3 5 $last"
done
msdump diff -q ra rb --json | jq -c '[.rows[] | .op_name, .verdict], [.summary | .compared, .unmatched], .relations'
# A single file has nothing to tell apart.
msdump diff -q ra/run_a/net_rank_0-1_1.safetensors rb/out/model_rank_0-20_4.safetensors --json | jq -c '[.summary | .compared, .same]'
