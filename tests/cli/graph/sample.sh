# From a line to operators and files, and the whole join, over the sample.
cd "$TESTDATA/sample" || exit
show msdump find-op --line net.py:23
show msdump find-op --line 'net.py:26' --io input --slot 0
show msdump map-ir
msdump map-ir --prove --json -q --op '*BiasAdd*' | jq -c '.numbering, .summary, (.rows[] | {op_name, confidence, reason, proof})'
msdump find-op --line net.py:27 --json -q | jq -c '.rows[] | {relation, confidence, one_of_several, source, ir_file, ir_line, node, files: [.files[] | [.op_name, .io, .slot, .dtype, .shape]]}'
msdump find-op --line net.py:27 --csv -q | head -1
