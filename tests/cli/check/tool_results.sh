# What msprobe's tools found are findings: of a file given by itself, of a folder of them, and beside a dump.
mkdir -p acc dump/step0/rank0
printf '\xef\xbb\xbfAPI name,Forward Test Success,Backward Test Success,Message\nTorch.sqrt.0,error, \nTensor.t.0,pass,warning\n' >acc/accuracy_checking_result_20261123075305.csv
printf '\xef\xbb\xbfAPI Name,Shape,Status,Message\nTorch.sqrt.0.forward.output.0,"(4, 8)",error,"\nRelative error is greater than 0.01.\n"\n' >acc/accuracy_checking_details_20261123075305.csv
cat >dump/step0/rank0/anomaly_analyze_1.json <<'JSON'
{"rank_1": [{"op_name": "Torch.log.0.forward", "stack_info": ["File net.py, line 14, in forward, \n y = torch.log(x)"]}]}
JSON
cat >dump/step0/rank0/dump.json <<'JSON'
{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Torch.log.0.forward":
{"output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 2, "Min": 1, "Mean": 1.5, "Norm": 2.2}]}}}
JSON
show msdump check acc
show msdump check acc/accuracy_checking_result_20261123075305.csv --csv
show msdump check dump
show msdump check acc --rule none --rule acc_check:op=*.t.*
show msdump check acc --rule acc_check:off
printf 'x\n' >acc/free_benchmark.csv
show msdump check acc -q
show msdump info acc/accuracy_checking_details_20261123075305.csv dump/step0/rank0/anomaly_analyze_1.json
