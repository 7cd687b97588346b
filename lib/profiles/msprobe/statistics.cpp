#include "profiles/msprobe/statistics.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace msdump {
namespace {

enum class Kind : uint8_t { kNumber, kNan, kInfinity, kMinusInfinity, kDevice, kNotAvailable, kOther };

constexpr std::string_view kNotAvailableText = "N/A";

Kind kind_of(const PythonValue& value) {
  const std::string lower = to_lower(value.text);
  if (lower == "nan") return Kind::kNan;
  if (lower == "inf") return Kind::kInfinity;
  if (lower == "-inf") return Kind::kMinusInfinity;
  if (decimal_value(value.text)) return Kind::kNumber;
  for (const std::string_view device : {"npu", "cpu", "cuda"}) {
    if (lower.find(device) != std::string::npos) return Kind::kDevice;
  }
  return value.text == kNotAvailableText ? Kind::kNotAvailable : Kind::kOther;
}

// 10 to the power of n, as in the table of pandas.
double power_of_ten(int64_t n) { return decimal_value("1e" + std::to_string(n)).value_or(0); }

struct Decimal {
  double digits = 0;  // the first 17, by repeated multiplication
  int64_t exponent = 0;
};

Decimal seventeen_digits(std::string_view mantissa) {
  constexpr int kDigits = 17;
  Decimal decimal;
  int taken = 0;
  bool after_point = false;
  for (const char c : mantissa) {
    if (c == '.') {
      after_point = true;
    } else if (taken < kDigits) {
      decimal.digits = decimal.digits * 10.0 + (c - '0');
      ++taken;
      if (after_point) --decimal.exponent;
    } else if (!after_point) {
      ++decimal.exponent;
    }
  }
  return decimal;
}

double scaled(double digits, int64_t exponent) {
  if (exponent > 308) return std::copysign(std::numeric_limits<double>::infinity(), digits);
  if (exponent > 0) return digits * power_of_ten(exponent);
  if (exponent < -616) return std::copysign(0.0, digits);
  if (exponent < -308) return digits / power_of_ten(-308 - exponent) / 1e308;
  return digits / power_of_ten(-exponent);
}

StatisticDifference numbers(double a, double b) {
  const double difference = a - b;
  if (b == 0) return {float_repr(difference), "inf"};
  return {float_repr(difference), float_repr(std::fabs(difference / b * 100)) + "%"};
}

StatisticDifference both(std::string_view text) { return {std::string(text), std::string(text)}; }

}  // namespace

std::optional<double> pandas2_number(std::string_view text) {
  if (!decimal_value(text)) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const size_t e = text.find_first_of("eE");
  Decimal decimal = seventeen_digits(text.substr(0, e));
  int64_t written = 0;
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), written);
    if (read.ec != std::errc{}) written = exponent.starts_with('-') ? -100'000 : 100'000;
  }
  return scaled(negative ? -decimal.digits : decimal.digits, decimal.exponent + written);
}

StatisticDifference msprobe_difference(const PythonValue& a, const PythonValue& b, bool pandas2) {
  if (a.text == b.text) return both("0");
  const Kind x = kind_of(a), y = kind_of(b);
  if (x == Kind::kNotAvailable || y == Kind::kNotAvailable) return both(kNotAvailableText);
  if (x == Kind::kNumber && y == Kind::kNumber) {
    const auto number = [&](const PythonValue& value) {
      return (pandas2 ? pandas2_number(value.text) : decimal_value(value.text)).value_or(0);
    };
    return numbers(number(a), number(b));
  }
  if (x == Kind::kDevice && y == Kind::kDevice) return both(kNotAvailableText);
  for (const Kind kind : {x, y}) {
    if (kind == Kind::kDevice || kind == Kind::kOther) return both("Diff");
  }
  if (x == Kind::kNan || y == Kind::kNan) return both("Nan");
  return both(x == Kind::kInfinity || (x == Kind::kNumber && y == Kind::kMinusInfinity) ? "inf" : "-inf");
}

}  // namespace msdump
