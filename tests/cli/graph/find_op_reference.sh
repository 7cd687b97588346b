# A dump without IR, such as that of a device: its operators are paired with those of a reference that has one.
cp -r "$TESTDATA/sample" ref
cp -r ref npu
find npu -name graphs -prune -exec rm -r {} +
rm npu/rank_0/Net/0/0/ReduceMean*
here() { show "$@" | sed "s|$PWD|HERE|"; }
here msdump find-op --line net.py:27 -d npu
show msdump find-op --line net.py:27 -d npu --ref ref
msdump find-op --line net.py:27 -d npu --ref ref -0 | tr '\0' '\n'
msdump find-op --line net.py:27 -d npu --ref ref --json | jq -c '.dumps, (.rows[] | .op_name, .confidence, (.files[] | .path))'
# An operator without a partner, no such line, a reference without IR, no dump.
show msdump find-op '*ReduceMean-op30' -d npu --ref ref
show msdump find-op --line net.py:999 -d npu --ref ref
here msdump find-op --line net.py:27 -d ref --ref npu
show msdump find-op --line net.py:27 --ref ref

# A device numbers operators otherwise: the name is that of the dump, which other commands take, and either is accepted.
for file in npu/rank_0/Net/0/0/*op20.*; do
  sed -i s/MatMul-op20/MatMul-op77/g "$file"
  mv "$file" "${file/op20/op77}"
done
show msdump find-op --line net.py:27 -d npu --ref ref --io output
msdump ls -d npu --op "$(msdump find-op --line net.py:27 -d npu --ref ref --json | jq -r '.rows[0].op_name')" | tail -n 1 | wc -l
for name in MatMul-op77 '*fc1-Dense_MatMul-op77' MatMul-op20 MatMul-op30; do
  msdump find-op "$name" -d npu --ref ref --json 2>/dev/null | jq -c --arg name "$name" '[$name, .rows[].op_name]'
done
for name in '*/MatMul-op77' '*/MatMul-op20' '*/MatMul-op30'; do
  msdump find-op --line net.py:27 --op "$name" -d npu --ref ref --json 2>/dev/null | jq -c --arg name "$name" '[$name, .rows[].op_name]'
done
