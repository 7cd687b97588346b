# msprobe: lines from stack.json, backward calls as gradients of their forward calls.
mkdir -p dump/step0/rank0/dump_tensor_data
cd dump/step0/rank0 || exit
echo '{"task": "tensor", "level": "L1", "framework": "mindspore", "dump_data_dir": null, "data": {}}' >dump.json
cat >stack.json <<'END'
{"0": [["Functional.linear.0.forward"],
  ["File /usr/lib/python3/site-packages/mindspore/nn/layer/basic.py, line 627, in construct, \n x = self.matmul(x)",
   "File /home/user/net.py, line 12, in construct, \n x = self.fc(x)"]],
 "1": [["Functional.relu.0.forward"], ["File /home/user/net.py, line 13, in construct, \n x = relu(x)"]]}
END
npy dump_tensor_data/Functional.linear.0.forward.output.0.npy '<f4' '(1,)' '\0\0\0\0'
npy dump_tensor_data/Functional.linear.0.backward.input.0.npy '<f4' '(1,)' '\0\0\0\0'
cd "$OLDPWD" || exit
msdump find-op --line net.py:12 -d dump --jsonl -q | jq -c '[.op_name, .relation, .confidence, (.files | length), .source.line]'
show msdump map-ir -d dump
