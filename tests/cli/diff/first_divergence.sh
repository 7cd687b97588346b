# The operator that went wrong first, in five lines and with its source, then the table; an agreeing dump is one line.
scaled_net ref
scaled_net factor 1.5
scaled_net sum 2 0.25
show msdump diff factor ref
show msdump diff sum ref
show msdump diff sum ref --all
show msdump diff ref ref
