# The words of the output: all of them, one by its name or by another form of it, and misspelt.
msdump help words | head -n 4
msdump help words | awk 'length > 80'
show msdump help confidence
show msdump help ROOT
show msdump help similar operators
show msdump help plcement
show msdump help frobnicate
show msdump help compare
