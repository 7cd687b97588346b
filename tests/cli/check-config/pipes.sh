# A configuration may come from standard input or a pipe; `-` is a list of files, as everywhere.
data_dump >data_dump.json
sed 's/"iteration"/"iteratoin"/' data_dump.json >typo.json
head -n 100 typo.json | show msdump check-config /dev/stdin -q
show msdump check-config /dev/stdin -q <typo.json
mkfifo fifo
(sleep 0.1 && cat data_dump.json >fifo) &
show msdump check-config fifo
wait
msdump check-config <(cat data_dump.json) -q && echo "a process substitution was read"
show msdump check-config /dev/null -q
head -c 5M /dev/zero | show msdump check-config /dev/stdin
printf 'data_dump.json\ntypo.json\n' | show msdump check-config -q -
show msdump check-config - <data_dump.json
# -d and -j as on every command.
show msdump check-config -d data_dump.json,typo.json -j 2 -q
show msdump check-config -d data_dump.json -d typo.json -q --csv
MSDUMP_DUMP=data_dump.json show msdump check-config
