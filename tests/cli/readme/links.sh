# Links between the pages lead to files and headings that exist.
cd "$TESTDATA/.." || exit
headings() { # PAGE: as GitHub names them in links
  sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/\[\([^]]*\)\]([^)]*)/\1/g; s/[][!"#$%&'\''()*+,.\/:;<=>?@^`{|}~]//g; s/？//g; s/、//g'
}
count=0
for page in *.md docs/*.md docs/formats/*.md testdata/*.md testdata/recorded/*.md; do
  while IFS= read -r link; do
    count=$((count + 1)) file=${link%%#*}
    [[ -n $file ]] && file=$(dirname "$page")/$file || file=$page
    if [[ ! -e $file ]]; then
      echo "$page: no file $link"
    elif [[ $link == *'#'* ]] && ! headings "$file" | grep -qxF -- "${link#*#}"; then
      echo "$page: no heading $link"
    fi
  done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^http')
done
((count > 100)) && echo "links lead somewhere"
