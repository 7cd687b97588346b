# Which sources may be compiled as one file (MSDUMP_UNITY): prints "GROUP SOURCE" for each, and nothing for a source that
# has to stay alone. All headers come first:  awk -f unity_groups.awk HEADER... SOURCE...
#
# Sources of one folder share a group as long as they declare no local name twice, and none that a header declares: nobody
# has to invent longer names for the sake of a build. (A function may have the name of one in a header of another folder.)
# Names of namespaces are not looked at: no function may have that of a module ("check").
# A declaration is known by its place, column 0, where clang-format puts it. A group is full at max_lines, so that several
# compilers have work.
BEGIN { max_lines = 2500 }

FNR == 1 {
  is_header = FILENAME ~ /\.h$/
  is_local = 0
  folder = FILENAME
  sub(/\/[^\/]*$/, "", folder)
  if (!is_header) sources[++source_count] = FILENAME
}
{ lines[FILENAME]++ }
/hwy\/foreach_target/ { alone[FILENAME] = 1 }  # includes itself, once for each CPU
/^namespace \{/ { is_local = 1 }
/^}  \/\/ namespace$/ { is_local = 0 }
/^using [A-Za-z_0-9:]+;/ { if (!is_header) note(last_word($2), $2) }
/^using enum / { if (!is_header) note("enum", $3) }  # of one enumeration a group, at most
/^[A-Za-z[]/ { if (is_header || is_local || /^(constexpr|static) /) declarations($0) }

function declarations(line) {
  sub(/^\[\[[a-z_]+\]\] /, "", line)  # [[nodiscard]]
  if (line ~ /^(namespace|template|extern|using [^=]*;)/) return
  if (match(line, /^(struct|class|enum class|enum|union|using) +[A-Za-z_0-9]+/)) note(last_word(substr(line, 1, RLENGTH)))
  while (gsub(/<[^<>]*>/, "", line)) {}  # template arguments
  # The name after the first words: of a function, or of a constant. One word alone is a macro (TEST_CASE).
  if (match(line, /^[A-Za-z_0-9:&* ]+ [&*]*[A-Za-z_0-9]+[({[;]/)) {
    is_function = substr(line, RLENGTH, 1) == "("
    note(last_word(substr(line, 1, RLENGTH - 1)))
    is_function = 0
  }
  while (match(line, /[A-Za-z_0-9]+ = /)) {  # several constants, or enumerators
    note(substr(line, RSTART, RLENGTH - 3))
    line = substr(line, RSTART + RLENGTH)
  }
}

function last_word(text,   n, words) {
  n = split(text, words, /[^A-Za-z_0-9]+/)
  return words[n] == "" ? words[n - 1] : words[n]
}

# imported: what a using declaration brings in; two sources may bring in the same.
function note(name, imported) {
  if (is_header) {
    in_headers[is_function ? folder "/" name : name] = 1
  } else {
    names[FILENAME] = names[FILENAME] " " name
    meaning[FILENAME, name] = imported == "" ? FILENAME : imported
    if (imported == "") own[FILENAME, name] = 1
  }
}

function clashes_with_headers(source, folder,   i, n, all) {
  n = split(names[source], all, " ")
  for (i = 1; i <= n; i++)
    if ((source, all[i]) in own && (all[i] in in_headers || (folder "/" all[i]) in in_headers)) return 1
  return 0
}

function fits(source, group,   i, n, all) {
  if (size[group] > 0 && size[group] + lines[source] > max_lines) return 0
  n = split(names[source], all, " ")
  for (i = 1; i <= n; i++) if ((group, all[i]) in taken && taken[group, all[i]] != meaning[source, all[i]]) return 0
  return 1
}

function join(source, group,   i, n, all) {
  n = split(names[source], all, " ")
  for (i = 1; i <= n; i++) taken[group, all[i]] = meaning[source, all[i]]
  size[group] += lines[source]
  sub(/.*\//, "", group)
  print group, source
}

END {
  for (s = 1; s <= source_count; s++) {
    source = sources[s]
    folder = source
    sub(/\/[^\/]*$/, "", folder)
    if (source in alone || clashes_with_headers(source, folder)) continue
    for (g = 1; !fits(source, folder g); g++) {}
    join(source, folder g)
  }
}
