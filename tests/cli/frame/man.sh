# The manual page has a section for each command, and no line begins with a request that troff does not know.
msdump help --man >page
grep '^\.S[HS]' page
grep "^[.']" page | cut -d ' ' -f 1 | sort -u | xargs
sed -n '/^\.SS msdump completion/,/^\.SH/p' page
