# Ranks that are not there: holes, those that collectives name, an empty folder, one that stopped earlier.
for rank in 0 1 2 3; do
  mkdir -p "rank_$rank/graphs" "rank_$rank/Net/0/0" "rank_$rank/Net/0/1"
  for step in 0 1; do
    dir=rank_$rank/Net/0/$step
    npy "$dir/AllGather.Default_AllGather-op0.0.0.170000000000000$step.input.0.DefaultFormat.Float32.npy" '<f4' '(2,)' "$(f32 "$rank" 2)"
    npy "$dir/AllGather.Default_AllGather-op0.0.0.170000000000000$step.output.0.DefaultFormat.Float32.npy" '<f4' '(8,)' \
      "$(f32 0 2 1 2 2 2 3 2)"
  done
  ir_node 0 AllGather "%para1_x" Default/AllGather-op0 11 |
    sed 's/(%para1_x)/& primitive_attrs: {group: "hccl_world_group", rank_size: I64(4)}/' |
    ir_graph >"rank_$rank/graphs/ms_output_trace_code_graph_0.ir"
done
# ranks FOLDER...: what is said without these.
without() {
  rm -rf less
  mkdir less
  cp -r rank_? less
  (cd less && rm -r "$@")
  echo "without $*"
  msdump check -d less --csv 2>&1 | sed 's/,,*/,/g'
}
show msdump check
without rank_1
without rank_3
without rank_2/Net/0/1
without rank_2/Net/0/0 rank_2/Net/0/1
without rank_0/Net rank_0/graphs
