# --trend says what could not be read, also where nothing else can be.
mkdir -p rank_0/Net/0/0
printf '\0\1\2garbage\n' >rank_0/Net/0/0/statistic.csv
show msdump check --trend
show msdump check --trend --op nope
