# Names that are no text for a terminal: the files are converted under their own names, messages show them escaped.
mkdir dump
dump_file "dump/Relu.$(printf 'a\033[31mb').1.7.1700000000000001" 3 '1 1 2 2 16' '1 5 2 2' 10
dump_file "dump/Relu.$(printf 'new\nline').1.7.1700000000000002" 3 '1 1 2 2 16' '1 5 2 2'
dump_file "dump/Relu.$(printf 'not\377utf8').1.7.1700000000000003" 3 '1 1 2 2 16' '1 5 2 2'
msdump convert -d dump -out npy -f NCHW
echo "exit $?"
msdump convert -q -d dump -out npy -f NCHW --dry-run --jsonl 2>/dev/null | grep -o '"input":"[^"]*"'
find npy -name 'Relu*' -print0 | sort -z | tr '\0\033\n\377' '\n^~?'
