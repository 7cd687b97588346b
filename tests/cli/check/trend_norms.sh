# An infinite norm is inf, that of a tensor with NaN nan.
weight() { echo "rank_0/Net/0/$1/Parameter.$2_weight.0.0.1700000000000009.output.0.DefaultFormat.npy"; }
for step in 0 1; do mkdir -p "rank_0/Net/0/$step"; done
for name in a b; do two_floats "$(weight 0 $name)" '\0\0\x80\x3f\0\0\0\x40'; done
two_floats "$(weight 1 a)" '\0\0\x80\x7f\0\0\0\x40'
two_floats "$(weight 1 b)" '\0\0\xc0\x7f\0\0\x80\x7f'
show msdump check --trend
