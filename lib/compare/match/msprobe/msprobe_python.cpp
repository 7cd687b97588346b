#include "compare/match/msprobe/msprobe_python.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

// Characters beyond ASCII that Python escapes: controls, blanks other than the space, format and private characters.
struct Range {
  uint32_t first, last;
};
constexpr std::array<Range, 13> kNotPrintable{{{0x80, 0xA0},
                                               {0xAD, 0xAD},
                                               {0x600, 0x605},
                                               {0x61C, 0x61C},
                                               {0x1680, 0x1680},
                                               {0x180E, 0x180E},
                                               {0x2000, 0x200F},
                                               {0x2028, 0x202F},
                                               {0x205F, 0x206F},
                                               {0x3000, 0x3000},
                                               {0xE000, 0xF8FF},
                                               {0xFEFF, 0xFEFF},
                                               {0xFFF9, 0xFFFB}}};

bool is_printable(uint32_t code) {
  return std::none_of(kNotPrintable.begin(), kNotPrintable.end(),
                      [&](const Range& range) { return code >= range.first && code <= range.last; });
}

void append_escaped(std::string& out, uint32_t code) {
  if (code <= 0xFF) {
    out += fmt::format("\\x{:02x}", code);
  } else if (code <= 0xFFFF) {
    out += fmt::format("\\u{:04x}", code);
  } else {
    out += fmt::format("\\U{:08x}", code);
  }
}

void append_ascii(std::string& out, char c, char quote) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  if (c == quote) out += '\\';
  if (c < ' ' || c == '\x7F') return append_escaped(out, static_cast<uint8_t>(c));
  out += c;
}

bool is_float_text(std::string_view number) { return number.find_first_of(".eEIN") != std::string_view::npos; }

double number_of(const JsonValue& value) { return value.as_double().value_or(decimal_value(value.text).value_or(0)); }

std::string number_text(const JsonValue& value) {
  if (is_float_text(value.text)) return float_repr(number_of(value));
  return value.text == "-0" ? "0" : value.text;
}

std::string list_repr(const JsonValue& list) {
  std::string out = "[";
  for (const JsonValue& item : list.items) {
    if (out.size() > 1) out += ", ";
    out += repr_of(item);
  }
  return out + "]";
}

std::string dict_repr(const JsonValue& dict) {
  std::string out = "{";
  for (const JsonMember& member : dict.members) {
    if (out.size() > 1) out += ", ";
    out += quoted_repr(member.key) + ": " + repr_of(member.value);
  }
  return out + "}";
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string quoted_repr(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t known = utf8_sequence_length(text, at), length = std::max<size_t>(known, 1);
    if (known == 1) {
      append_ascii(out, text[at], quote);
    } else if (const uint32_t code = code_point(text, at, length); known == 0 || !is_printable(code)) {
      append_escaped(out, code);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out + quote;
}

std::string str_of(const JsonValue& value) { return value.is(JsonKind::kString) ? value.text : repr_of(value); }

std::string repr_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return "None";
    case JsonKind::kBool: return value.boolean ? "True" : "False";
    case JsonKind::kNumber: return number_text(value);
    case JsonKind::kString: return quoted_repr(value.text);
    case JsonKind::kArray: return list_repr(value);
    case JsonKind::kObject: return dict_repr(value);
  }
  return {};
}

PythonValue python_float(double value) { return {PythonKind::kFloat, value, float_repr(value)}; }

PythonValue python_str(std::string text) { return {PythonKind::kText, 0, std::move(text)}; }

PythonValue python_value(const JsonValue* value) {
  if (value == nullptr || value->is(JsonKind::kNull)) return {PythonKind::kNone, 0, "None"};
  PythonValue result{PythonKind::kOther, 0, str_of(*value)};
  if (value->is(JsonKind::kString)) result.kind = PythonKind::kText;
  if (value->is(JsonKind::kBool)) {
    result.kind = PythonKind::kBool;
    result.number = value->boolean ? 1 : 0;
  }
  if (value->is(JsonKind::kNumber)) {
    result.kind = is_float_text(value->text) ? PythonKind::kFloat : PythonKind::kInt;
    result.number = number_of(*value);
  }
  return result;
}

bool python_equal(const PythonValue& a, const PythonValue& b) {
  const auto numeric = [](const PythonValue& value) { return value.is_number() || value.kind == PythonKind::kBool; };
  if (numeric(a) && numeric(b)) {
    const bool whole = a.kind == PythonKind::kInt && b.kind == PythonKind::kInt;
    return whole ? a.text == b.text : a.number == b.number;
  }
  return a.kind == b.kind && a.text == b.text;
}

std::optional<double> decimal_value(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (text[0] == '-' || text[0] == '+') return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return std::nullopt;
  // Too small is 0, too large is infinite.
  const bool small =
      text.starts_with('0') || text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  if (read.ec == std::errc::result_out_of_range) value = small ? 0 : std::numeric_limits<double>::infinity();
  return negative ? -value : value;
}

double rounded_to(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  return decimal_value(fmt::format("{:.{}f}", value, decimals)).value_or(value);
}

}  // namespace msdump
