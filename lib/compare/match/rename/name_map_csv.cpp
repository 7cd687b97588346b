#include "compare/match/rename/name_map_csv.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF", kBlanks = " \t\r";

bool has_content(std::string_view line) { return !line.empty() && line.front() != '#'; }

// Replaces each quoted part by its quotes.
std::string without_quoted(std::string_view line) {
  std::string result;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted) result += c;
  }
  return result;
}

tl::unexpected<Error> wrong(size_t line, std::string_view what) {
  return fail(
      make_error(ErrorCode::kUsage, "line {}: {}", line, what).with_hint("a line is: candidate name, reference name"));
}

// One line, whose quotes may hold commas and, doubled, quotes.
Result<std::vector<std::string>> fields_of(std::string_view line, size_t number) {
  std::vector<std::string> fields;
  for (size_t at = 0;; ++at) {
    std::string field;
    at = std::min(line.find_first_not_of(kBlanks, at), line.size());
    if (at < line.size() && line[at] == '"') {
      for (++at; at < line.size() && (line[at] != '"' || line.substr(at).starts_with("\"\"")); ++at) {
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at == line.size()) return wrong(number, "a quote is not closed");
      const size_t comma = std::min(line.find(',', at), line.size());
      if (!trimmed(line.substr(at + 1, comma - at - 1)).empty()) return wrong(number, "text after a closing quote");
      at = comma;
    } else {
      const size_t comma = std::min(line.find(',', at), line.size());
      field = trimmed(line.substr(at, comma - at));
      at = comma;
    }
    fields.push_back(std::move(field));
    if (at == line.size()) return fields;
  }
}

bool is_header(const std::vector<std::string>& fields) {
  static constexpr std::array<std::string_view, 7> kLeft = {"candidate", "candidate name", "a",     "target",
                                                            "npu",       "npu name",       "actual"};
  static constexpr std::array<std::string_view, 7> kRight = {"reference", "reference name", "b",      "golden",
                                                             "bench",     "bench name",     "desired"};
  const std::string left = to_lower(fields[0]), right = to_lower(fields[1]);
  return std::find(kLeft.begin(), kLeft.end(), left) != kLeft.end() &&
         std::find(kRight.begin(), kRight.end(), right) != kRight.end();
}

}  // namespace

bool looks_like_name_csv(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (has_content(line)) {
      const std::string plain = without_quoted(line);
      const bool of_yaml = plain.starts_with("- ") || plain[0] == '{' || plain[0] == '[' || plain.ends_with(':') ||
                           plain.find(": ") != std::string::npos;
      return !of_yaml && plain.find(',') != std::string::npos;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Result<std::vector<NamePair>> read_name_csv(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<NamePair> pairs;
  bool is_first = true;
  size_t number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(whole);
    if (!has_content(line)) continue;
    MSDUMP_TRY(std::vector<std::string> fields, fields_of(line, number));
    if (fields.size() != 2) return wrong(number, fmt::format("{} columns; expected 2", fields.size()));
    if (fields[0].empty() || fields[1].empty())
      return wrong(number, "a name is missing; 'N/A' says that there is none");
    if (!(is_first && is_header(fields))) pairs.push_back({std::move(fields[0]), std::move(fields[1]), number});
    is_first = false;
  }
  return pairs;
}

}  // namespace msdump
