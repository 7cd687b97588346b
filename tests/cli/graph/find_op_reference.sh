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
