# Names that are no text for a terminal are shown escaped; commands to type next are quoted.
name=$(printf 'a\033[31m b.npy')
npy_file "$name" '<f4' '(2,)' 8
mkdir "$(printf 'tree\n')x" "it's"
cp "$name" "it's/$(printf '\377.npy')"
msdump info "$name"
msdump info "it's"
msdump info -q "it's"/* --jsonl | grep -o '"path":"[^"]*"'
echo x >"it's/$(printf 'no\ttes.txt')"
msdump info -q "it's"
