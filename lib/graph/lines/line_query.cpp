#include "graph/lines/line_query.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace msdump {
namespace {

// Without blanks, and the '#' that IR begins such a line with.
std::string_view frame_text(std::string_view text) {
  text = trimmed(text);
  return text.substr(std::min(text.find_first_not_of(" \t#"), text.size()));
}

// Takes the number off the start of `text`.
std::optional<uint32_t> take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto number = parse_u64(text.substr(0, digits));
  if (!number || *number == 0 || *number > UINT32_MAX) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<uint32_t>(*number);
}

// What follows a line number in text that was copied: a closing bracket, columns, the code, "in construct".
bool is_tail(std::string_view text) {
  if (!text.empty() && text.front() == ')') text.remove_prefix(1);
  return text.empty() || text.front() == ',' || text.front() == '/' || text.front() == ' ' || text.front() == ':';
}

// "175", "175-180", "15~20, 4~16/code/"
bool take_lines(std::string_view text, LineQuery& query) {
  const auto first = take_number(text);
  if (!first) return false;
  query.first = query.last = *first;
  if (!text.empty() && (text.front() == '-' || text.front() == '~')) {
    text.remove_prefix(1);
    const auto last = take_number(text);
    if (!last || *last < *first) return false;
    query.last = *last;
  }
  return is_tail(text);
}

// File "PATH", line 175, in construct
bool parse_traceback(std::string_view text, LineQuery& query) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  if (!text.starts_with(kFile)) return false;
  const size_t line = text.find(kLine);
  if (line == std::string_view::npos) return false;
  query.file = text.substr(kFile.size(), line - kFile.size());
  return take_lines(text.substr(line + kLine.size()), query);
}

// The first ':' or '(' that lines follow.
bool parse_place(std::string_view text, LineQuery& query) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] != ':' && text[at] != '(') continue;
    query.file = text.substr(0, at);
    if (take_lines(text.substr(at + 1), query)) return true;
  }
  return false;
}

// Without "." and "..": a script that was started by a relative path is "/home/user/run/../src/net.py" in the IR.
// Leading ones are removed, too, as their starting point is unknown.
std::string resolved(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t length = std::min(path.find('/'), path.size() - 1) + 1;
    const std::string_view component = path.substr(0, length);
    path.remove_prefix(length);
    if (component == "./") continue;
    if (component != "../") {
      result += component;
    } else if (result.size() > 1) {
      const size_t parent = result.rfind('/', result.size() - 2);
      result.resize(parent == std::string::npos ? 0 : parent + 1);
    }
  }
  return result;
}

bool ends_with_components(std::string_view path, std::string_view end) {
  if (end.empty() || !path.ends_with(end)) return false;
  if (path.size() == end.size() || end.front() == '/') return true;
  const char before = path[path.size() - end.size() - 1];
  return before == '/' || before == '\\';
}

}  // namespace

Result<LineQuery> parse_line_query(std::string_view text) {
  std::string_view rest = frame_text(text);
  for (const std::string_view start :
       {std::string_view("- "), std::string_view("inlined:"), std::string_view("In file ")}) {
    if (rest.starts_with(start)) rest = frame_text(rest.substr(start.size()));
  }
  LineQuery query;
  if (!parse_traceback(rest, query) && !parse_place(rest, query)) {
    // A file alone, if it can be one.
    const bool is_name = !rest.empty() && rest.find_first_of(" ()") == std::string_view::npos && rest.ends_with(".py");
    if (!is_name) {
      return fail(make_error(ErrorCode::kUsage, "'{}' is not a line of a script", excerpt(text))
                      .with_hint("write FILE:LINE or FILE:LINE-LINE, such as alexnet.py:175"));
    }
    query = {std::string(rest), 0, 0};
  }
  while (query.file.starts_with("./")) query.file.erase(0, 2);
  return query;
}

bool path_ends_with(std::string_view path, std::string_view end) {
  const auto has_dots = [](std::string_view text) { return text.find("./") != std::string_view::npos; };
  if (!has_dots(path) && !has_dots(end)) return ends_with_components(path, end);
  return ends_with_components(resolved(path), resolved(end));
}

std::string collapsed_code(std::string_view text) {
  std::string result;
  for (const char c : frame_text(text)) {
    const bool blank = c == ' ' || c == '\t' || c == '/';  // IR has '/' for line feeds
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace msdump
