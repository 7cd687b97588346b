# Tensors that a graph saved one by one: the names say operator, io, slot, run and place.
rows() { msdump ls -q --jsonl "$@" | jq -c '[.rank, .graph, .step, .op_type, .op_name, .io, .slot, .occurrence, .timestamp, .dtype]'; }
fx=fx/worldsize2_global_rank1/graph_3
mkdir -p $fx/0 $fx/1
for step in 0 1; do
  npy "$fx/$step/mm-aten.mm.default.INPUT.0.2024012503111878735$step.npy" '<f4' '(1,)' '\0\0\x80\x3f'
  npy "$fx/$step/mm-aten.mm.default.OUTPUT.0.2024012503111878735$step.npy" '<f4' '(1,)' "\\0\\0\\x$((step + 8))0\\x3f"
  npy "$fx/$step/sum_1-aten.sum.default.INPUT.1.2024012503111878736$step.npy" '|O' '()' '\x80\x04N.'
done
rows fx
show msdump diff fx --a-step 1 --b-step 0
show msdump info "$fx/0/mm-aten.mm.default.INPUT.0.20240125031118787350.npy"
mkdir -p dump/step3/rank0
npy dump/step3/rank0/x_float32_0.npy '<f4' '(1,)' '\0\0\x80\x3f'
npy dump/step3/rank0/y_bfloat16_1.npy '<f4' '(1,)' '\0\0\x80\x3f'
npy dump/step3/rank0/x_float32_2.npy '<f4' '(1,)' '\0\0\x80\x7f'
rows dump
show msdump check -d dump
# Names and folders only: what torch saves is read elsewhere.
mkdir -p ex/worldsize1_global_rank0 graph/step0/pid7/dump_tensor_data act
touch ex/worldsize1_global_rank0/{add_device_0_0,mm_1_device_0_0,add_device_0_1}.pt
touch graph/step0/pid7/dump_tensor_data/{Module.fc.Linear.0.input.0,Aten.mm.1.output.0}.pt act/{act_0,logits_1,act_2}.pt
for dump in ex graph act; do rows $dump --no-shape; done
mkdir sg
touch sg/step={0,1}___rank=1___dump_index=7___name=attn_out___layer_id=3.pt
rows sg --no-shape
