# A manual page for the program and one for each command. No line begins with a request that troff does not know.
msdump help --man >page
grep '^\.S[HS]' page
sed -n '/^\.SH SEE ALSO/,$p' page
for command in convert stats info ls find-op map-ir diff next check merge check-config help completion; do
  msdump help $command --man >>page
done
grep "^[.']" page | cut -d ' ' -f 1 | sort -u | xargs
msdump help completion --man
show msdump help noise --man
