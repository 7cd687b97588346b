# Options with words to choose from, with any value and without one, with one spelling and with several, as each shell
# takes them.
msdump completion zsh >zsh_script
sed -n '/^    completion)/,$p' zsh_script
grep -m 1 -F -e '--host-arch' zsh_script
grep -m 1 -F -e '--in-place' zsh_script
grep -m 1 -F -e '--naming' zsh_script
grep -m 1 -F -e '--rank' zsh_script
msdump completion fish >fish_script
grep "_from completion'" fish_script
grep -e '-l host-arch' -e '-l in-place' -e "_from stats' -l slot" fish_script
