# ops.TensorDump of MindSpore 2.3 and 2.4 names N_file.npy, of later releases file_dtype_N.npy. N is the order of all that a process
# saves: another tensor in between moves it, and changes the name of none.
rows() { msdump ls -q --jsonl "$@" | jq -c '[.op_name, .occurrence, .timestamp, .dtype]'; }
save() { npy "$1" '<f4' '(1,)' "$(f32 "$2")"; }
mkdir one two new ranks ranks_new layers
save one/0_x.npy 1
save one/1_y.npy 3
save one/2_x.npy 2
save two/0_extra.npy 5
save two/1_x.npy 1
save two/2_y.npy 3
save two/3_x.npy 2
save new/x_float32_0.npy 1
save new/y_float32_1.npy 3
save new/x_float32_2.npy 2
for dump in one two new; do rows $dump; done
show msdump diff two one
show msdump diff one new
# Two processes in one folder.
for rank in 0 1; do
  save ranks/0_rank${rank}_x.npy 1
  save ranks/1_rank${rank}_y.npy 1
  save ranks_new/rank${rank}_x_float32_0.npy 1
  save ranks_new/rank${rank}_y_float32_1.npy 1
done
rows ranks
rows ranks_new
# Equal numbers of one process are no order.
for name in 0_weight 0_bias 1_weight 1_bias; do save layers/$name.npy 1; done
rows layers
