# A version of msaccucmp's format is ignored with a note, however it is spelled; -v alone and --version alone are ours.
mkdir dump
dump_file dump/Relu.a.1.7.1700000000000001 1 '2 3' '2 3'
for spelling in '-v 1' '-v 2' -v1 -v2 -v=1 -v=2 '--version 1' '--version 2' --version=1 --version=2 '-version 1' '-v 3'; do
  rm -rf out
  echo "$spelling:"
  # shellcheck disable=SC2086  # words
  msdump convert -d dump -out out $spelling >/dev/null 2>err
  grep -v '^msdump: \[' err
done
msdump convert -d dump -out out --version | head -n 1 | cut -d ' ' -f 1
