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
msdump completion zsh | head -n 1
msdump completion fish | grep -c -- '-l out '
show msdump completion bsh
show msdump completion
