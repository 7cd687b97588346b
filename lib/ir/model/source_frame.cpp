#include "ir/model/source_frame.h"

#include "ir/model/scan.h"

namespace msdump {
namespace {

constexpr std::string_view kInlined = "inlined:";
constexpr std::string_view kInFile = "In file ";
constexpr std::string_view kShared = "<~~This line of code can be shared";

// A number of at most nine digits at text[at], and `at` after it; nothing if there is none.
std::optional<uint32_t> take_number(std::string_view text, size_t& at) {
  uint32_t value = 0;
  const size_t begin = at;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (at - begin == 9) return std::nullopt;
    value = value * 10 + static_cast<uint32_t>(text[at] - '0');
  }
  if (at == begin) return std::nullopt;
  return value;
}

bool take(std::string_view text, size_t& at, std::string_view what) {
  if (!text.substr(at).starts_with(what)) return false;
  at += what.size();
  return true;
}

bool take_column(std::string_view text, size_t& at) {
  (void)take(text, at, "-");
  return take_number(text, at).has_value();
}

bool ends_here(std::string_view text, size_t at) { return at == text.size() || text[at] == '/'; }

// "(175)" at text[at].
bool take_parentheses(std::string_view text, size_t& at, ParsedFrame& parsed) {
  size_t next = at + 1;
  const auto line = take_number(text, next);
  if (!line || !take(text, next, ")") || !ends_here(text, next)) return false;
  parsed.frame.line = parsed.frame.end_line = *line;
  parsed.style = PlaceStyle::kParentheses;
  at = next;
  return true;
}

// ":175", ":175~180", ":175, 12~25" at text[at].
bool take_colon(std::string_view text, size_t& at, ParsedFrame& parsed) {
  size_t next = at + 1;
  const auto line = take_number(text, next);
  if (!line) return false;
  SourceFrame& frame = parsed.frame;
  std::optional<uint32_t> end_line = line;
  bool range = take(text, next, "~");
  if (range) end_line = take_number(text, next);
  if (!end_line) return false;
  if (take(text, next, ", ")) {
    range = true;
    if (!take_column(text, next) || !take(text, next, "~") || !take_column(text, next)) return false;
  }
  if (!ends_here(text, next)) return false;
  frame.line = *line;
  frame.end_line = *end_line;
  parsed.style = range ? PlaceStyle::kRange : PlaceStyle::kLine;
  at = next;
  return true;
}

bool find_place(std::string_view text, size_t& begin, size_t& end, ParsedFrame& parsed) {
  for (begin = 1; begin < text.size(); ++begin) {
    end = begin;
    if (text[begin] == ':' && take_colon(text, end, parsed)) return true;
    if (text[begin] == '(' && take_parentheses(text, end, parsed)) return true;
  }
  return false;
}

// Removes the remark that the line is shared, and the label after it.
std::string_view strip_tail(std::string_view text) {
  const size_t remark = text.rfind(kShared);
  const bool shared = remark != std::string_view::npos && remark > 0 && text[remark - 1] == '/' && text.ends_with('/');
  if (shared) return text.substr(0, remark);
  if (text.ends_with('/')) return text;
  const size_t label = text.rfind("/#");
  if (label == std::string_view::npos || text.find('/', label + 1) != std::string_view::npos) return text;
  return text.substr(0, label + 1);
}

}  // namespace

bool is_source_frame(std::string_view text) {
  if (text.starts_with(kInlined)) text.remove_prefix(kInlined.size());
  return text.starts_with(kInFile);
}

bool is_whole_frame(std::string_view text) {
  text = trim(text);
  return text.ends_with('/') || strip_tail(text).ends_with('/');
}

std::optional<std::pair<uint32_t, uint32_t>> parse_place(std::string_view text) {
  ParsedFrame parsed;
  size_t at = 0;
  const bool found = text.starts_with(':')   ? take_colon(text, at, parsed)
                     : text.starts_with('(') ? take_parentheses(text, at, parsed)
                                             : false;
  if (!found) return std::nullopt;
  return std::pair(parsed.frame.line, parsed.frame.end_line);
}

std::optional<ParsedFrame> parse_source_frame(std::string_view text) {
  ParsedFrame parsed;
  text = trim(text);
  if (text.starts_with(kInlined)) text.remove_prefix(kInlined.size());
  if (!text.starts_with(kInFile)) return std::nullopt;
  text.remove_prefix(kInFile.size());
  size_t begin = 0, end = 0;
  if (!find_place(text, begin, end, parsed)) return std::nullopt;
  parsed.frame.file = trim(text.substr(0, begin));
  std::string_view code = strip_tail(text.substr(end));
  if (code.starts_with('/')) code.remove_prefix(1);
  if (code.ends_with('/')) code.remove_suffix(1);
  parsed.frame.code = trim(code);
  return parsed;
}

}  // namespace msdump
