#include "compare/match/msprobe/msprobe_python.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kNone = "None", kTrue = "True", kFalse = "False";

struct Digits {
  std::string text;  // "12345" for 1.2345
  int exponent = 0;  // of the first one
};

Digits shortest_digits(double magnitude) {
  std::array<char, 40> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, std::chars_format::scientific);
  const std::string_view all(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t e = all.find('e');
  Digits digits;
  for (const char c : all.substr(0, e)) {
    if (c != '.') digits.text += c;
  }
  const std::string_view exponent = all.substr(e + (all[e + 1] == '+' ? 2 : 1));
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), digits.exponent);
  return digits;
}

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
  for (const Range& range : kNotPrintable) {
    if (code >= range.first && code <= range.last) return false;
  }
  return code <= 0x10'FFFF;
}

uint32_t decode_utf8(std::string_view sequence) {
  const auto lead = static_cast<uint8_t>(sequence[0]);
  uint32_t code = sequence.size() == 1 ? lead : lead & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3FU);
  return code;
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

std::string number_text(const JsonValue& value) {
  if (is_float_text(value.text)) return float_repr(value.as_double().value_or(decimal_value(value.text).value_or(0)));
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
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  auto [digits, exponent] = shortest_digits(std::fabs(value));
  if (exponent < -4 || exponent >= 16) {
    if (digits.size() > 1) digits.insert(1, ".");
    return fmt::format("{}{}e{}{:02}", sign, digits, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string quoted_repr(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    const std::string_view sequence = text.substr(at, std::max<size_t>(length, 1));
    at += sequence.size();
    if (length == 1) {
      append_ascii(out, sequence[0], quote);
    } else if (const uint32_t code = decode_utf8(sequence); length == 0 || !is_printable(code)) {
      append_escaped(out, code);
    } else {
      out += sequence;
    }
  }
  return out + quote;
}

std::string str_of(const JsonValue& value) { return value.is(JsonKind::kString) ? value.text : repr_of(value); }

std::string repr_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return std::string(kNone);
    case JsonKind::kBool: return std::string(value.boolean ? kTrue : kFalse);
    case JsonKind::kNumber: return number_text(value);
    case JsonKind::kString: return quoted_repr(value.text);
    case JsonKind::kArray: return list_repr(value);
    case JsonKind::kObject: return dict_repr(value);
  }
  return {};
}

PythonValue python_none() { return {PythonKind::kNone, 0, std::string(kNone)}; }

PythonValue python_float(double value) { return {PythonKind::kFloat, value, float_repr(value)}; }

PythonValue python_str(std::string text) { return {PythonKind::kText, 0, std::move(text)}; }

PythonValue python_value(const JsonValue* value) {
  if (value == nullptr || value->is(JsonKind::kNull)) return python_none();
  PythonValue result{PythonKind::kOther, 0, str_of(*value)};
  if (value->is(JsonKind::kString)) result.kind = PythonKind::kText;
  if (value->is(JsonKind::kBool)) {
    result.kind = PythonKind::kBool;
    result.number = value->boolean ? 1 : 0;
  }
  if (value->is(JsonKind::kNumber)) {
    result.kind = is_float_text(value->text) ? PythonKind::kFloat : PythonKind::kInt;
    result.number = value->as_double().value_or(decimal_value(value->text).value_or(0));
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
