# A place as people copy it, a text, names and selections.
cd "$TESTDATA/sample" || exit
for line in net.py:27 'net.py(27)' train/net.py:27 './net.py:27, 12~25' net.py:25-27 net.py \
  '# In file /home/user/train/net.py:27/        x = self.fc1(self.flatten(x))/' 'File "/home/user/train/net.py", line 27, in construct'; do
  printf '%-60s %s\n' "$line" "$(msdump find-op --line "$line" --jsonl -q | jq -r .op_type | xargs)"
done
msdump find-op --code 'x = self.relu(x)' --jsonl -q | jq -r .op_type
msdump find-op 'Conv2D-op12' --jsonl -q | jq -r .op_type
msdump find-op '*conv1*' --op-type BiasAdd --jsonl -q | jq -r .op_type
msdump find-op --op-type 'Re*' --jsonl -q | jq -r .op_type
msdump find-op --line net.py:23 --line net.py:41 -0 --io output | tr '\0' '\n'
msdump find-op --ir rank_0/graphs/*.ir 'Conv2D*' --jsonl -q | jq -r .op_type
