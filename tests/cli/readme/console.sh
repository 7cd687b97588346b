# Every command in a console block of README.md, README_CN.md and docs/ prints what the page shows. A difference is
# printed; with MSDUMP_WRITE_DOCS=1 it is written into the page. Read it before you commit it. Each page has a folder of its own, which it shows as /home/user. There are the
# files of blocks whose head names one (```json config.json), and the dumps that dumps.bash makes for it.
top=$TESTDATA/.. work=$PWD
source "$(dirname "${BASH_SOURCE[0]}")/dumps.bash"
for page in "$top"/README.md "$top"/README_CN.md "$top"/docs/*.md; do
  name=${page#"$top"/} folder=$work/$(basename "$page" .md)
  mkdir "$folder" && ln -s "$TESTDATA" "$folder/testdata"
  (cd "$folder" && dumps_of "$(basename "$page" .md)")
  awk -v folder="$folder" '/^```[a-z]+ ./ { file = folder "/" $2; next } /^```$/ { file = "" } file != "" { print >file }' "$page"
  awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >"$folder.shown"
  sed -n 's/^\$ //p' "$folder.shown" >"$folder.commands"
  status=0
  while IFS= read -r command; do
    printf '$ %s\n' "$command"
    # The exit code of one command is what $? of the next one shows.
    eval "cd '$folder' && (exit $status); $command" 2>&1
    status=$?
  done <"$folder.commands" | sed "s|$folder|/home/user|g" >"$folder.printed"
  if [[ -n ${MSDUMP_WRITE_DOCS:-} ]]; then
    awk -v printed="$folder.printed" '
      /^```console$/ { inside = 1; print; next }
      /^```$/ { inside = 0 }
      !inside { print; next }
      /^\$ / {
        if (line == "") getline line <printed
        do print line; while ((getline line <printed) > 0 && line !~ /^\$ /)
      }' "$page" >"$folder.page"
    cmp -s "$folder.page" "$page" || cp "$folder.page" "$page"
  fi
  diff -u "$folder.shown" "$folder.printed" && echo "$name: $(wc -l <"$folder.commands") commands print what it shows"
done

# What a command printed stands nowhere else, where it would grow stale.
awk 'FNR == 1 { kind = "" } /^```/ { kind = kind == "" ? $0 : "" } kind != "" && kind != "```console" && /^\$ / { print FILENAME ":" FNR ": " $0 }' \
  "$top"/*.md "$top"/docs/*.md "$top"/docs/formats/*.md | sed "s|^$top/||"
