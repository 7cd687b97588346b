show msdump convret
show msdump frobnicate
show msdump --json
show msdump convert --json --nonsense
