# A graph of GE: alone, with MindSpore's IR for the lines, and as the operators of a dump.
folder=dump/20260101000000/0/net/1/0
mul=Default/net-Net/Mul-op3 relu=Default/net-Net/ReLU-op4 neg=Default/net-Net/Neg-op7
mkdir -p $folder ge ir

# desc NAME [ATTRIBUTE...]: a description of an input or output.
desc() {
  printf '    %s {\n      dtype: DT_FLOAT16\n      shape {\n        dim: 2\n        dim: 16\n      }\n      layout: "ND"\n' "$1"
  printf '      attr {\n        key: "origin_format"\n        value {\n          s: "ND"\n        }\n      }\n    }\n'
}
# op NAME TYPE INPUT [ORIGINAL...]
op() {
  local original
  printf '  op {\n    name: "%s"\n    type: "%s"\n    input: "%s"\n' "$1" "$2" "$3"
  if (($# > 3)); then
    printf '    attr {\n      key: "_datadump_original_op_names"\n      value {\n        list {\n'
    for original in "${@:4}"; do [[ -z $original ]] || printf '          s: "%s"\n' "$original"; done
    printf '          val_type: VT_LIST_STRING\n        }\n      }\n    }\n'
  fi
  desc input_desc
  desc output_desc
  printf '  }\n'
}
{
  printf 'graph {\n  name: "net_0"\n'
  op x Data ''
  op trans_TransData_0 TransData x:0 ''
  op $mul$relu Mul trans_TransData_0:0 $mul $relu
  op $neg Neg $mul$relu:0
  printf '}\n'
} >ge/ge_proto_00000004_Build.txt
sed 's/Neg"/Abs"/' ge/ge_proto_00000004_Build.txt >ge/ge_proto_00000002_PreRunBegin.txt
{ ir_node 0 Mul %para1_x $mul 10 && ir_node 1 ReLU %0 $relu 11 && ir_node 2 Neg %1 $neg 12; } | ir_graph >ir/graph_build_0_0001.ir
dump_file "$folder/TransData.trans_TransData_0.1.3.1700000000000001" 2 '2 16' '2 16'
dump_file "$folder/Mul.${mul//\//_}${relu//\//_}.2.3.1700000000000002" 2 '2 16' '2 16'
dump_file "$folder/Neg.${neg//\//_}.3.3.1700000000000003" 2 '2 16' '2 16'

show msdump info ge/ge_proto_00000004_Build.txt
msdump info --json ge/ge_proto_00000004_Build.txt | jq -c '.rows[] | [.kind, .detail]'
show msdump map-ir --ir ge
show msdump map-ir --ir ge --ir ir
show msdump map-ir -d dump --ir ge --ir ir
show msdump find-op --line net.py:11 -d dump --ir ge --ir ir
show msdump find-op --line net.py:12 -d dump --ir ge --ir ir
show msdump find-op Mul-op3 --ir ge
msdump map-ir -d dump --ir ge --ir ir --json -q | jq -c '.summary, (.rows[] | [.op_name, .op_type, .originals, .ir_line, .node, .source.line, .inputs, (.files | length)])'
msdump map-ir --ir ge --csv -q | head -1
# Found beside the dump, too.
mv ge/* . && mv ir graphs
msdump map-ir -d dump --json --op '*Neg*' -q | jq -c '.rows[] | [.op_name, .graph, .source.line, (.files[] | [.op_name, .graph])]'
# A graph that was cut.
head -c 1500 ge_proto_00000004_Build.txt >cut.txt
show msdump map-ir --ir cut.txt
show msdump find-op '*' --ir cut.txt -q
