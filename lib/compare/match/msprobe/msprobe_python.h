// Values as Python prints them: msprobe's result files are made of str() and repr(), and scripts compare their bytes.
//
//   float   the shortest digits that read back, fixed from 1e-4 to below 1e16, else 1e-05; with a point or an 'e'
//   str     in lists quoted with ', or with " if it holds ' and no "; control characters and \ are escaped
//   list    [1, 'a', None, True], dict {'a': 1}
//   int     as the JSON has it, of any length
// Source: Python's documentation of repr. Printable characters are approximated by ranges, not by the Unicode tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/json.h"

namespace msdump {

enum class PythonKind : uint8_t { kNone, kBool, kInt, kFloat, kText, kOther };

struct PythonValue {
  PythonKind kind = PythonKind::kNone;
  double number = 0;  // of a bool, int or float
  std::string text;   // str() of it

  [[nodiscard]] bool is_number() const { return kind == PythonKind::kInt || kind == PythonKind::kFloat; }
  [[nodiscard]] bool is_text(std::string_view wanted) const { return kind == PythonKind::kText && text == wanted; }
};

[[nodiscard]] PythonValue python_float(double value);
[[nodiscard]] PythonValue python_str(std::string text);
[[nodiscard]] PythonValue python_value(const JsonValue* value);  // null: None

// a == b in Python, for these kinds: numbers compare by value, texts by bytes.
[[nodiscard]] bool python_equal(const PythonValue& a, const PythonValue& b);

[[nodiscard]] std::string float_repr(double value);
[[nodiscard]] std::string quoted_repr(std::string_view text);
[[nodiscard]] std::string str_of(const JsonValue& value);   // a string as it is
[[nodiscard]] std::string repr_of(const JsonValue& value);  // a string in quotes

// float(text) for a plain decimal number, correctly rounded, infinite beyond the range. No value for other texts.
[[nodiscard]] std::optional<double> decimal_value(std::string_view text);

// Rounded half to even on the exact value, as format(value, '.12f') and round(value, 6) do.
[[nodiscard]] double rounded_to(double value, int decimals);

}  // namespace msdump
