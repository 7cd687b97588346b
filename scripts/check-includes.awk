# The rules behind scripts/check-includes; see there. Portable awk (mawk, gawk).

BEGIN {
  # The floors of lib/. A module includes itself and the floors below; so there are no cycles, and what a module can
  # depend on is known from its place.
  floor["base"] = 0
  floor["io"] = floor["tensor"] = floor["report"] = 1
  floor["kernels"] = floor["npy"] = floor["ascend"] = floor["torch"] = floor["config"] = 2
  floor["tables"] = floor["format"] = floor["msprobe"] = floor["ir"] = 3
  floor["dump"] = 4
  floor["graph"] = floor["info"] = 5
  floor["convert"] = floor["stats"] = 6
  floor["compare"] = 7
  floor["divergence"] = floor["profiles"] = floor["check"] = 8

  # Third-party headers with a fence around them: pattern, name, and what the fence is there for.
  fence("^(google/protobuf/|.*\\.pb\\.h$)", "protobuf", "slow to compile, and a wire format is nobody else's business")
  fence("^(Eigen|unsupported/Eigen)/", "Eigen", "slow to compile")
  fence("^hwy/", "Highway", "its code is compiled once per CPU target")
  fence("^rapidjson/", "RapidJSON", "wrapped once")
  fence("^(yaml-cpp/|yaml\\.h$)", "yaml", "wrapped once")
  fence("^(zip\\.h$|zipconf\\.h$|minizip/|unzip\\.h$|zlib\\.h$)", "zip", "wrapped once")
}

function fence(pattern, name, reason) {
  fences++
  fence_pattern[fences] = pattern
  fence_name[fences] = name
  fence_reason[fences] = reason
}

function violation(rule, reason) {
  printf "%s:%d: %s (%s)\n", FILENAME, FNR, rule, reason
  violations++
}

# The code of a line: without comments, with every string and character literal emptied.
function code_of(line,    out, position, here, two) {
  out = ""
  for (position = 1; position <= length(line); position++) {
    here = substr(line, position, 1)
    two = substr(line, position, 2)
    if (in_comment) {
      if (two == "*/") { in_comment = 0; position++ }
    } else if (in_raw != "") {
      if (substr(line, position, length(in_raw)) == in_raw) { position += length(in_raw) - 1; in_raw = ""; out = out "\"\"" }
    } else if (two == "//") {
      break
    } else if (two == "/*") {
      in_comment = 1; position++
    } else if (two == "R\"" && match(substr(line, position), /^R"[^()\\ ]*\(/)) {
      in_raw = ")" substr(line, position + 2, RLENGTH - 3) "\""
      position += RLENGTH - 1
    } else if (here == "\"" || (here == "'" && out !~ /[0-9a-fA-F]$/)) {
      # A ' after a digit separates digits. Nothing else follows a digit directly.
      for (position++; position <= length(line) && substr(line, position, 1) != here; position++) {
        if (substr(line, position, 1) == "\\") position++
      }
      out = out here here
    } else {
      out = out here
    }
  }
  return out
}

function check_quoted_or_angled(header, quoted,    first, i) {
  first = header
  sub(/\/.*/, "", first)

  for (i = 1; i <= fences; i++) {
    if (header !~ fence_pattern[i]) continue
    if (area == "apps") {
      violation(fence_name[i] " in apps/", "apps/ never parses a byte; only lib/ does")
    } else if (area == "lib" && FILENAME ~ /\.h$/) {
      violation(fence_name[i] " in a header", "stays inside .cpp files: " fence_reason[i])
    } else if (area == "lib" && fence_reason[i] == "wrapped once" && module != "io") {
      violation(fence_name[i] " outside lib/io/", "a third-party reader is wrapped once, and the wrapper keeps its exceptions and limits")
    }
    return
  }
  if (header ~ /^CLI\// || header ~ /^spdlog\//) {
    if (area == "lib") violation(header, "CLI11 and spdlog stay in apps/: lib/ takes options as values and never logs")
    return
  }
  if (header == "regex") return violation("<regex>", "slow, and its recursion overflows the stack on long names; use RE2")
  if (header == "sys/mman.h") return violation("<sys/mman.h>", "a mapped file that shrinks is a SIGBUS, and its pages count as resident; pread into slabs")
  if (area == "lib" && header == "iostream") return violation("<iostream>", "lib/ never prints; it returns values")
  if (!quoted || area != "lib") return

  if (!(first in floor)) return violation("\"" header "\" is in no module of lib/", "headers are included from the root of lib/, and lib/ knows nothing of apps/")
  if (!(module in floor) || first == module || floor[first] < floor[module]) return
  violation(module " (floor " floor[module] ") includes " first " (floor " floor[first] ")", "a module includes itself and the floors below")
}

function check_code(code) {
  if (code ~ /(^|[^A-Za-z0-9_])(std::|ranges::)views::/) {
    violation("std::views", "the pipelines of libstdc++ 12 do not compile with clang 14, which builds the fuzzers; use a loop or std::ranges algorithms")
  }
  if (area == "tests") return
  if (code ~ /std::(w|s|c|b)*regex/) violation("std::regex", "slow, and its recursion overflows the stack on long names; use RE2")
  if (code ~ /(^|[^A-Za-z0-9_.>])mmap *\(/) violation("mmap", "a mapped file that shrinks is a SIGBUS, and its pages count as resident; pread into slabs")
  if (area != "lib") return
  if (code ~ /(^|[^A-Za-z0-9_.>])(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror) *\(/ || code ~ /fmt::print *\(/ || code ~ /std::(cout|cerr|clog)/) {
    violation("printing", "lib/ never prints; it returns values, and apps/ decides what a user sees")
  }
  if (code ~ /(^|[^A-Za-z0-9_.>:]|std::|[^A-Za-z0-9_]::)(exit|_exit|_Exit|quick_exit|abort|terminate) *\(/) {
    violation("ending the process", "lib/ never exits; an error is a value, and a bad file never ends a run")
  }
}

FNR == 1 {
  in_comment = 0
  in_raw = ""
  split(FILENAME, parts, "/")
  area = parts[1]
  module = parts[2]
  if (area == "lib" && !(module in floor)) violation("lib/" module "/ has no floor", "add it to the table in scripts/check-includes.awk")
}

{
  was_code = !in_comment && in_raw == ""
  code = code_of($0)
  if (was_code && match($0, /^[ \t]*#[ \t]*include[ \t]*["<][^">]+/)) {
    header = substr($0, RSTART, RLENGTH)
    quoted = header ~ /"/
    sub(/^[^"<]*["<]/, "", header)
    check_quoted_or_angled(header, quoted)
  } else {
    check_code(code)
  }
}

END { exit violations > 0 }
