# A stack.json is of one step and one rank.
for step in 0 1; do
  mkdir -p dump/step$step/rank0/dump_tensor_data
  cd dump/step$step/rank0 || exit
  echo '{"task": "tensor", "level": "L1", "framework": "mindspore", "dump_data_dir": null, "data": {}}' >dump.json
  cat >stack.json <<'END'
{"0": [["Functional.relu.0.forward"], ["File /home/user/net.py, line 13, in construct, \n x = relu(x)"]]}
END
  two_floats dump_tensor_data/Functional.relu.0.forward.output.0.npy
  cd "$OLDPWD" || exit
done
two_floats dump/step1/rank0/dump_tensor_data/Functional.add.0.forward.output.0.npy
show msdump find-op --line net.py:13 -d dump
show msdump find-op --line net.py:13 -d dump --step 1
show msdump map-ir -d dump/step1,dump/step0
show msdump map-ir -d dump --step 1 --unmatched
