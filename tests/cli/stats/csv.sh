# --csv is a plain table, whatever the dump; the bytes of a statistic.csv come with an explicit dialect and with --out.
scaled_net dump
cp -r dump/rank_0/Net/0/0 dump/rank_0/Net/0/1
mkdir dump/rank_1 && cp -r dump/rank_0/Net dump/rank_1
msdump stats -d dump -q --csv --op '*ReLU*' --io output --columns max,min
msdump stats -d dump -q --csv --op '*ReLU*' --io output --exact | cut -d, -f2,4,5,18-
# As wide as the header, without the commas inside of quotes.
msdump stats -d dump -q --csv | sed 's/"[^"]*"//g' | awk -F, '{ print NF }' | sort -u | wc -l
for dialect in auto 2.5.0; do
  msdump stats -d dump -q --csv --dialect $dialect --op '*ReLU*' --io output
  msdump stats -d dump/rank_0/Net/0/0 -q --csv --dialect $dialect >printed.csv
  msdump stats -d dump/rank_0/Net/0/0 -q --dialect $dialect -out $dialect
  cmp printed.csv $dialect/statistic.csv && echo "the bytes of --out"
done
show msdump stats -d dump -q --csv --dialect 2.5.0 --top 1
