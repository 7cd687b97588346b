# A file that an option names and that cannot be used is a wrong command line, whatever is wrong with it.
scaled_net ref
printf '\177ELF\2 \1\1\377\376\200\0\1\2' >binary
head -c 34000000 /dev/zero | tr '\0' 'x' >large
mkdir folder
for option in --map --tolerances --baseline; do
  for file in binary large folder missing; do
    msdump diff ref ref $option $file 2>/dev/null
    echo "$option $file: exit $?"
  done
done
mkdir -p bare/step0/rank0
echo '{"task": "statistics", "framework": "mindspore", "data": {"Functional.f.0.forward": {"input_args": [null]}}}' >bare/step0/rank0/dump.json
for file in binary large folder missing; do
  msdump diff bare/step0/rank0/dump.json bare/step0/rank0/dump.json --profile msprobe --map $file 2>/dev/null
  echo "--profile msprobe --map $file: exit $?"
done
