# A file whose name says JSON or IR and that is something else, or damaged, is reported.
printf '{"a": null} more' >construct.json
printf '{"a": null "b": null}' >stack.json
printf '\377\001\377random' >ms_output_trace_code_graph_0.pb
printf '\377\001\377random' >ms_output_trace_code_graph_1.ir
for file in construct.json stack.json ms_output_trace_code_graph_{0.pb,1.ir}; do
  msdump info -q "$file" --json 2>/dev/null | jq -r '.failures[] | "\(.path): \(.code): \(.message)"'
  echo " [exit ${PIPESTATUS[0]}]"
done
