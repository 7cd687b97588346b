# On a terminal of 80 and of 120 columns. Rank and graph, which are unknown here, go first; statistics, lines and messages stay.
mkdir dump reference
for folder in dump reference; do
  for op in 0 1; do
    npy "$folder/Mul.Default_network-WithLossCell__backbone-Regressor_second-Residual_Mul-op$op.0.0.170000000000000$op.output.0.DefaultFormat.npy" \
      '<f4' '(2,)' "$(if [[ $folder$op == dump1 ]]; then f32 nan 1234.5; else f32 -0.015625 1234.5; fi)"
  done
done
ir_graph <<IR >net.ir
$(ir_node 0 Mul '%para1_x, %para1_x' Default/network-WithLossCell/_backbone-Regressor/second-Residual/Mul-op0 41)
$(ir_node 1 Mul '%0, %para1_x' Default/network-WithLossCell/_backbone-Regressor/second-Residual/Mul-op1 42)
IR
on_terminal() { script -qec "stty cols ${columns:-80} && $*" /dev/null </dev/null | tr -d '\r'; }
on_terminal 'msdump stats dump --columns max,min,avg,l2norm --dialect 2.10.0 -q'
on_terminal 'msdump check dump --ir net.ir --all -q 2>/dev/null' | grep -v '^ '
on_terminal 'msdump diff dump reference --ir net.ir -q 2>/dev/null' | grep -v '^ '
columns=120 on_terminal 'msdump diff dump reference --ir net.ir -q 2>/dev/null' | grep -v '^ '
# What is said of a cause is continued below it; commands and lines of the script stay in one.
columns=60 on_terminal "msdump diff $TESTDATA/sample-wrong $TESTDATA/sample -q 2>/dev/null" | grep -E '^(  |first)'
