#include "config/json_faults.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPythonWords = {
    {{"True", "true"}, {"False", "false"}, {"None", "null"}}};

class Repair {
 public:
  explicit Repair(std::string_view text) { result_.text = text; }

  RepairedJson take() {
    if (result_.text.starts_with(kByteOrderMark)) slip(JsonSlipKind::kByteOrderMark, 0, kByteOrderMark.size());
    while (at_ < size()) step();
    std::sort(result_.slips.begin(), result_.slips.end(),
              [](const JsonSlip& a, const JsonSlip& b) { return a.offset < b.offset; });
    return std::move(result_);
  }

 private:
  [[nodiscard]] size_t size() const { return result_.text.size(); }
  [[nodiscard]] std::string_view rest() const { return std::string_view(result_.text).substr(at_); }

  // Records the slip, and blanks `length` bytes except line ends.
  void slip(JsonSlipKind kind, size_t offset, size_t length) {
    result_.slips.push_back({kind, offset});
    for (size_t i = offset; i < offset + length; ++i) {
      if (result_.text[i] != '\n' && result_.text[i] != '\r') result_.text[i] = ' ';
    }
  }

  void step() {
    const char c = result_.text[at_];
    if (is_blank(c)) {
      ++at_;
    } else if (c == '"') {
      last_ = at_;
      at_ = end_of_text('"');
    } else if (c == '\'') {
      single_quotes();
    } else if (c == '#' || rest().starts_with("//")) {
      comment(std::min(result_.text.find('\n', at_), size()));
    } else if (rest().starts_with("/*")) {
      const size_t end = result_.text.find("*/", at_ + 2);
      comment(end == std::string::npos ? size() : end + 2);
    } else if (is_letter(c)) {
      word();
    } else {
      if ((c == '}' || c == ']') && last_ != std::string::npos && result_.text[last_] == ',')
        slip(JsonSlipKind::kTrailingComma, last_, 1);
      last_ = at_++;
    }
  }

  // The offset after the closing quote, or of the end of the line if there is none.
  [[nodiscard]] size_t end_of_text(char quote) const {
    for (size_t i = at_ + 1; i < size(); ++i) {
      const char c = result_.text[i];
      if (c == '\n') return i;
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        return i + 1;
      }
    }
    return size();
  }

  void comment(size_t end) {
    slip(JsonSlipKind::kComment, at_, end - at_);
    at_ = end;
  }

  // Texts with quotes inside stay as they are: they cannot be repaired without moving what follows.
  void single_quotes() {
    const size_t begin = at_, end = end_of_text('\'');
    const std::string_view inside = std::string_view(result_.text).substr(begin + 1, end - begin - 1);
    slip(JsonSlipKind::kSingleQuotes, begin, 0);
    if (inside.ends_with('\'') && inside.find_first_of("\"\\") == std::string_view::npos)
      result_.text[begin] = result_.text[end - 1] = '"';
    last_ = begin;
    at_ = end;
  }

  void word() {
    size_t end = at_;
    while (end < size() && is_word(result_.text[end])) ++end;
    for (const auto& [python, json] : kPythonWords) {
      if (std::string_view(result_.text).substr(at_, end - at_) != python) continue;
      slip(JsonSlipKind::kPythonWord, at_, 0);
      std::copy(json.begin(), json.end(), result_.text.begin() + static_cast<std::ptrdiff_t>(at_));
    }
    last_ = at_;
    at_ = end;
  }

  RepairedJson result_;
  size_t at_ = 0;
  size_t last_ = std::string::npos;  // the last token, comments not counted
};

}  // namespace

RepairedJson repair_json(std::string_view text) { return Repair(text).take(); }

namespace {

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

// The last byte before `offset` that is not a blank; 0 if there is none.
char byte_before(std::string_view text, size_t offset) {
  while (offset > 0) {
    if (!is_blank(text[--offset])) return text[offset];
  }
  return '\0';
}

struct Control {
  std::string name, escape;
};

Control control_of(char c) {
  const auto byte = static_cast<unsigned>(static_cast<unsigned char>(c));
  std::string name = fmt::format("byte 0x{:02X}", byte), escape = fmt::format("\\u{:04x}", byte);
  if (c == '\t') return {"tab, " + name, "\\t"};
  if (c == '\b') return {"backspace, " + name, "\\b"};
  if (c == '\f') return {"form feed, " + name, "\\f"};
  if (c == '\x1b') name = "ESC, " + name;
  return {name, escape};
}

std::string explain_in_string(std::string_view rest) {
  const char c = rest.front();
  if (c == '\n' || c == '\r') return "a line end inside a string; a quote is missing before it, or write \\n";
  if (is_control(c)) {
    const Control control = control_of(c);
    return fmt::format("a control character ({}) inside a string; a quote is missing before it, or write {}",
                       control.name, control.escape);
  }
  if (c == '\\' && rest.size() > 1 && rest[1] != 'u') {
    const size_t length = utf8_sequence_length(rest, 1);
    return fmt::format("'{}' is not a JSON escape; a backslash is written \\\\",
                       escape_for_terminal(rest.substr(0, 1 + std::max<size_t>(length, 1))));
  }
  return "";
}

// For a number: the reader stopped after its first 0, or before its sign.
std::string explain_number(std::string_view text, size_t offset) {
  const std::string_view rest = text.substr(offset);
  if (rest.front() == '+' && rest.size() > 1 && is_digit(rest[1])) return "JSON has no plus sign before a number";
  if (offset == 0 || text[offset - 1] != '0') return "";
  if (offset > 1 && (is_word(text[offset - 2]) || text[offset - 2] == '.')) return "";
  if ((rest.front() == 'x' || rest.front() == 'X') && rest.size() > 1 && is_hex_digit(rest[1]))
    return "JSON has no hexadecimal numbers";
  return is_digit(rest.front()) ? "JSON numbers do not begin with 0" : "";
}

uint32_t code_point(std::string_view text, size_t length) {
  uint32_t code = static_cast<unsigned char>(text[0]) & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return code;
}

std::string_view space_name(uint32_t code) {
  switch (code) {
    case 0xA0: return "a no-break space";
    case 0x200B: return "a zero-width space";
    case 0x2028: return "a line separator";
    case 0x2029: return "a paragraph separator";
    case 0x202F: return "a narrow no-break space";
    case 0x3000: return "an ideographic space";
    case 0xFEFF: return "a byte order mark";
    case 0x85:
    case 0x1680:
    case 0x205F: return "a space that JSON does not have";
    default: return code >= 0x2000 && code <= 0x200A ? "a space that JSON does not have" : "";
  }
}

// A character beyond ASCII, outside of strings.
std::string explain_character(std::string_view rest) {
  const size_t length = utf8_sequence_length(rest, 0);
  if (length < 2) return "";
  const uint32_t code = code_point(rest, length);
  if (const std::string_view name = space_name(code); !name.empty()) return fmt::format("{} (U+{:04X})", name, code);
  if ((code >= 0x2018 && code <= 0x201F) || code == 0xAB || code == 0xBB) return "typographic quotes; JSON has \"";
  if (code > 0xFF00 && code < 0xFF5F) {
    const auto narrow = static_cast<char>(code - 0xFF00 + 0x20);
    return fmt::format("a full-width '{}' (U+{:04X}); JSON has {}", narrow, code, narrow);
  }
  return fmt::format("'{}' (U+{:04X}) outside of double quotes", escape_for_terminal(rest.substr(0, length)), code);
}

}  // namespace

std::string explain_fault(std::string_view text, const JsonFault& fault) {
  const size_t offset = std::min(fault.offset, text.size());
  const auto reader_says = [&](std::string_view word) { return fault.reason.find(word) != std::string::npos; };
  if (std::all_of(text.begin(), text.end(), is_blank)) return "the file is empty";
  if (fault.beyond_limits) return "";
  if (offset == text.size()) return "the text ends here; a bracket or a quote is not closed";
  const std::string_view rest = text.substr(offset);
  const char c = rest.front(), before = byte_before(text, offset);
  if (c == '\0') return "a zero byte";
  if (reader_says("in string")) return explain_in_string(rest);
  if (std::string number = explain_number(text, offset); !number.empty()) return number;
  if (reader_says("document root")) return "text after the end of the JSON value";
  if (is_control(c)) return fmt::format("a control character ({})", control_of(c).name);
  if (std::string character = explain_character(rest); !character.empty()) return character;
  if (c == '"' && reader_says("colon")) return "a colon is missing before it";
  if (c == '"' && (before == '"' || before == '}' || before == ']' || is_word(before)))
    return "a comma is missing before it";
  if (c == '=') return "JSON has : between a key and its value";
  if (is_letter(c)) {
    const size_t end = static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin());
    return fmt::format("'{}' needs double quotes", excerpt(rest.substr(0, end)));
  }
  return "";
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  if (text.size() < 4) return false;
  const auto zeros = [&](size_t from) { return text[from] == '\0' && text[from + 2] == '\0'; };
  const auto others = [&](size_t from) { return text[from] != '\0' && text[from + 2] != '\0'; };
  return (zeros(0) && others(1)) || (zeros(1) && others(0));
}

}  // namespace msdump
