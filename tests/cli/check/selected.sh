# Who asks for some operators hears of these, of what came into them, and of what could not be read.
mkdir -p rank_0/graphs rank_0/Net/0/0
{
  ir_node 1 Mul %para1_x Default/Mul-op1 10
  ir_node 2 Log %1 Default/Log-op2 11
  ir_node 3 Neg %2 Default/Neg-op3 12
} | ir_graph >rank_0/graphs/ms_output_trace_code_graph_0.ir
file() { echo "rank_0/Net/0/0/$1.Default_$1-op$2.0.0.170000000000000$3.$4.0.DefaultFormat.npy"; }
one='\0\0\x80\x3f\0\0\0\x40' nan='\0\0\xc0\x7f\0\0\0\x40'
two_floats "$(file Mul 1 3 input)" "$one"
two_floats "$(file Mul 1 3 output)" "$one"
two_floats "$(file Log 2 2 input)" "$one"
two_floats "$(file Log 2 2 output)" "$nan"
two_floats "$(file Neg 3 1 input)" "$nan"
two_floats "$(file Neg 3 1 output)" "$nan"
show msdump check --no-recompute --first --op '*Neg*'
show msdump check --no-recompute --op '*Mul*'
# What went into it has no row of its own; the exit code shows it.
rm "$(file Neg 3 1 input)"
two_floats "$(file Neg 3 1 output)" "$one"
show msdump check --no-recompute --op '*Neg*'
show msdump check --no-recompute --op '*Neg*' -q --rule nan:severity=note --rule inf:severity=note --fail-level error
# A file that was cut is reported, whichever operator it is of; what is missing is not.
truncate -s -4 "$(file Mul 1 3 output)"
touch -d 2030-01-01 "$(file Mul 1 3 output)"
mkdir -p rank_1/Net/0/0
show msdump check --no-recompute -q --op '*Log*' --rule nan:off
show msdump check --no-recompute -q --op '*Log*' --rule nan:off --rule unreadable:off
