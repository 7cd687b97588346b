# -out, as msaccucmp's users type it, in every spelling that argparse takes and two more. An option's value is never
# widened, nor what follows a bare --. The dump does not exist: the message shows how the line was understood.
for spelling in '-out o' '-out=o' '--out o' '--out=o' '-output o' '--output=o'; do
  # shellcheck disable=SC2086  # words on purpose
  show msdump convert -dump nowhere $spelling
done
show msdump convert -dump_file=nowhere -out o
show msdump convert -d -out -out o
show msdump convert -out o -- -out
ls
