# A power that overflows in a real run: as MindSpore wrote it, and rewritten in device formats.
corpus=${MSDUMP_CORPUS:-$TESTDATA/../../shared/corpus}
if [[ ! -d $corpus/diagnosis ]]; then
  echo "skipped: no conformance data at $corpus/diagnosis (set MSDUMP_CORPUS)"
  exit
fi
for tree in bad bad_device; do
  mkdir $tree
  tar -C $tree -xzf "$corpus/diagnosis/regress-pow-overflow/$tree.tar.gz"
  show msdump check -d $tree --first
  msdump check -d $tree --json -q | jq -c '[.first.op_name, .first.source.line, .first.inputs_finite], (.summary | [.errors, .warnings])'
done
