# The bash script completes commands, options and values of the live tree.
msdump completion bash >script
# shellcheck disable=SC1091
source ./script
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _msdump
  echo "$*: ${COMPREPLY[*]}"
}
complete_words msdump conv
complete_words msdump convert --dr
complete_words msdump convert -t ''
complete_words msdump convert --color a
complete_words msdump help compl
complete_words msdump help noi
complete_words msdump completion ''
complete_words msdump diff --fail-on ''
complete_words msdump diff a b --profile msp
complete_words msdump diff --recompute ''
complete_words msdump diff --metric co
complete_words msdump stats --columns l
complete_words msdump stats --columns ne
complete_words msdump stats --dialect ''
two_floats x.npy
for dialect in "${COMPREPLY[@]}"; do msdump stats x.npy -q --dialect "$dialect" >/dev/null || echo "refused: $dialect"; done
complete_words msdump check --rule sat
complete_words msdump check-config --explain file_
msdump completion zsh | head -n 1
msdump completion fish | grep -c -- '-l out '
show msdump completion bsh
show msdump completion
