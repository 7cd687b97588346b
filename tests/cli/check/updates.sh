# A ratio of change needs the mean of |x|, whichever rule asks for it.
weight() { echo "rank_0/Net/0/$1/Parameter.fc_weight.0.0.1700000000000009.output.0.DefaultFormat.npy"; }
for step in 0 1; do mkdir -p "rank_0/Net/0/$step"; done
two_floats "$(weight 0)" '\0\0\x80\x3f\0\0\0\x40'
two_floats "$(weight 1)" '\0\0\xc0\x3f\0\0\0\x40'
show msdump check -q --rule none --rule weight_change_small:abs_mean_update_ratio_lt=0.5
show msdump check -q --rule none --rule weight_change_large:abs_mean_update_ratio_gt=0.1
