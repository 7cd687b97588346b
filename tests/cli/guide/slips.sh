# What people type who know another tool, or half of this one: each slip has to end with the hint that leads on, and with
# exit code 2 unless another one stands before the command. A text behind the arrow has to occur in what is printed.
scaled_net good
scaled_net bad 2.5
two_floats x.npy
data_dump >data_dump.json
echo 'x = 1' >net.py

# lead_on WHICH: the slips on stdin.
lead_on() {
  local tried=0 right=0 line command expected code status printed
  while IFS= read -r line; do
    command=${line%% => *} expected=${line#* => } code=2
    if [[ $command == [0-3]\ * ]]; then
      code=${command%% *}
      command=${command#* }
    fi
    status=0
    # shellcheck disable=SC2086  # words on purpose
    printed=$($command 2>&1 </dev/null) || status=$?
    tried=$((tried + 1))
    if [[ $printed == *"$expected"* && $status == "$code" ]]; then
      right=$((right + 1))
    else
      printf 'wrong: %s\n  exit code %s of %s, and no "%s" in\n' "$command" "$status" "$code" "$expected"
      head -n 4 <<<"$printed" | cut -c 1-200 | sed 's/^/  | /'
    fi
  done
  echo "$right of $tried $1 lead on"
}

lead_on slips <<'SLIPS'
msdump compare bad good => hint: msdump diff bad good
msdump cmp => hint: msdump diff CANDIDATE REFERENCE
msdump blame bad good => hint: msdump diff bad good
msdump list => hint: msdump ls
msdump dir bad => hint: msdump ls bad
msdump show x.npy => hint: msdump info x.npy --values
msdump values x.npy => hint: msdump info x.npy --values
msdump view x.npy => hint: msdump info x.npy --values
msdump cat x.npy => hint: msdump info x.npy --values
msdump print x.npy => hint: msdump info x.npy --values
msdump html => --report FILE.html
msdump report bad good => --report FILE.html
msdump ir => hint: msdump map-ir
msdump graph => hint: msdump map-ir
msdump overflow bad => hint: msdump check bad
msdump nan bad => hint: msdump check bad --first
msdump inf => hint: msdump check --first
msdump trend bad => hint: msdump check bad --trend
msdump recompute bad => --recompute
msdump npy bad => hint: msdump convert
msdump csv bad => hint: msdump stats bad --csv
msdump statistics bad => hint: msdump stats bad
msdump lint data_dump.json => hint: msdump check-config data_dump.json
msdump find => find-op
msdump line net.py:12 => hint: msdump find-op --line net.py:12
msdump glossary => hint: msdump help words
msdump man => hint: msdump help --man
msdump version => hint: msdump --version
msdump bad => hint: msdump info bad
msdump bad good => hint: msdump diff bad good
msdump x.npy => hint: msdump info x.npy
msdump data_dump.json => hint: msdump check-config data_dump.json
msdump net.py:12 => hint: msdump find-op --line net.py:12
msdump dif bad good => did you mean 'diff'?
msdump chekc bad => did you mean 'check'?
msdump mapir => did you mean 'map-ir'?
msdump checkconfig data_dump.json => did you mean 'check-config'?
msdump DIFF bad good => did you mean 'diff'?
msdump --json diff bad good => hint: msdump diff --json bad good
msdump --html => --report FILE.html
msdump -d bad => hint: msdump info -d bad
msdump diff bad good --html x.html => did you mean '--report'?
msdump diff bad good --tolerance 1e-3 => did you mean '--rtol'?
msdump diff bad good --rol 1e-3 => did you mean '--rtol'?
msdump diff bad good --threads 4 => did you mean '--jobs'?
msdump diff bad good --format json => did you mean '--json'?
msdump diff bad good --fail-on rooot => did you mean 'root'?
msdump diff bad => hint: msdump diff CANDIDATE REFERENCE
msdump diff bda good => did you mean 'bad'?
msdump check bad --nan => did you mean '--first'?
msdump check bad --fail-on error => did you mean '--fail-level'?
msdump ls bad --filter conv => did you mean '--op'?
msdump ls bad --name conv => did you mean '--op'?
msdump info bad --op Mul => msdump ls
msdump stats bad --sort max => did you mean '--top'?
msdump convert bad out => hint: msdump convert -d bad --out out
msdump convert -d bad -o out => --out
msdump help compare => hint: msdump diff CANDIDATE REFERENCE
0 msdump help noise => what its inputs and
msdump help noize => did you mean 'noise'?
SLIPS

# These were written down when the words of the list above were in the program, before they were tried.
lead_on 'fresh slips' <<'SLIPS'
msdump comparison bad good => hint: msdump diff bad good
msdump difference bad good => hint: msdump diff bad good
msdump accuracy-compare bad good => hint: msdump diff bad good
msdump root-cause bad good => hint: msdump diff bad good
msdump first bad => hint: msdump check bad --first
msdump summary bad => hint: msdump stats bad
msdump histogram x.npy => hint: msdump stats x.npy
msdump max bad => hint: msdump stats bad
msdump head x.npy => hint: msdump info x.npy --values
msdump get x.npy => hint: msdump info x.npy --values
msdump meta x.npy => hint: msdump info x.npy
msdump stat bad => hint: msdump stats bad
msdump to-npy bad => hint: msdump convert
msdump check_config data_dump.json => did you mean 'check-config'?
msdump find_op => did you mean 'find-op'?
msdump trace net.py:12 => hint: msdump find-op
msdump shapes bad => hint: msdump ls bad
msdump help root-cause => hint: msdump
0 msdump help siblings => of the same type
msdump bad/rank_0 good/rank_0 => hint: msdump diff bad/rank_0 good/rank_0
msdump *.npy => hint: msdump info x.npy
msdump /nowhere/dump => no such file or directory
msdump diff bad good --output-html x.html => did you mean '--report'?
msdump diff bad good --cosine 0.99 => did you mean '--metric'?
msdump diff bad good --ignore-nan => hint: msdump diff --help
msdump check bad --top 5 => hint: --top is an option of msdump stats
msdump check bad --strict => did you mean '--fail-level'?
msdump stats bad --json-output => did you mean '--json'?
msdump ls bad --long => hint: msdump ls --help
SLIPS

# The same again, after names were split at dashes and compared by their stems.
lead_on 'last slips' <<'SLIPS'
msdump comparing bad good => hint: msdump diff bad good
msdump tensor-diff bad good => hint: msdump diff bad good
msdump where-nan bad => hint: msdump check bad --first
msdump list-tensors bad => hint: msdump ls bad
msdump converter bad => did you mean 'convert'?
msdump export-npy bad => hint: msdump convert
msdump gen-config => msdump next
msdump configs data_dump.json => hint: msdump check-config data_dump.json
msdump nans bad => hint: msdump check
msdump weights bad => hint: msdump ls bad
msdump loss bad => hint: msdump check
msdump ./bda => no such file or directory
msdump ops-of net.py:3 => hint: msdump
msdump diff bad good --html-report x.html => did you mean '--report'?
msdump diff bad good --max-diff 1 => did you mean
msdump diff bad good --n-jobs 2 => did you mean '--jobs'?
msdump ls bad --sort-by name => hint: msdump ls --help
msdump info x.npy --head => did you mean '--values'?
msdump convert bad --dst out => did you mean '--out'?
msdump check bad --xml-report r.xml => did you mean '--junit'?
SLIPS
