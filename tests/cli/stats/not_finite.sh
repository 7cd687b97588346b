# What is not finite is found, ranked and answered with an exit code.
name() { echo "Add.Default_Add-op$1.0.0.170000000000000$1.output.0.DefaultFormat.npy"; }
npy "$(name 1)" '<f4' '(2,)' '\0\0\x80\x3f\0\0\0\x40'
npy "$(name 2)" '<f4' '(2,)' '\0\0\xc0\x7f\0\0\0\x40'
npy "$(name 3)" '<f4' '(2,)' '\0\0\x80\xff\0\0\0\x40'
npy "$(name 4)" '<f4' '(2,)' '\0\0\x80\x44\0\0\0\x40'
show msdump stats --dialect 2.10.0 --top 3 --columns max,nan\ count,negative\ inf\ count
msdump stats --top 2 --columns max -q --csv | cut -d, -f5,18-
show msdump stats --dialect 2.10.0 --fail-on nan -q --op '*op4'
show msdump stats --dialect 2.10.0 --fail-on nan --columns max
show msdump stats --dialect 2.10.0 --fail-on inf --columns max --op '*op3'
show msdump stats --dialect 2.10.0 --fail-on nan,inf --csv --columns max -q
