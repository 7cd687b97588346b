// Arithmetic with the same result on every CPU. The C library's exp, log, pow and hypot are not: it has several of each, for
// CPUs with and without fused multiply-add, and they may differ in the last digit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

// sqrt(x² + y²), right to the last digit or the one beside it. Infinite if one of them is; else NaN if one of them is.
[[nodiscard]] inline double hypotenuse(double x, double y) {
  constexpr double kSafe = 0x1p500;  // squares of numbers between 1 / kSafe and kSafe neither overflow nor vanish
  const double larger = std::max(std::abs(x), std::abs(y));
  if (larger < kSafe && larger > 1 / kSafe) return std::sqrt(x * x + y * y);
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
  if (larger == 0 || std::isnan(larger)) return larger + std::abs(y);
  int exponent = 0;
  (void)std::frexp(larger, &exponent);
  return std::ldexp(hypotenuse(std::ldexp(x, -exponent), std::ldexp(y, -exponent)), exponent);
}

// An estimate to six significant digits: what exp and log leave in the others differs between CPUs.
[[nodiscard]] double rounded(double estimate);
[[nodiscard]] inline std::optional<double> rounded(const std::optional<double>& estimate) {
  return estimate ? std::optional(rounded(*estimate)) : std::nullopt;
}

// 10 to the power of the exponent of a number of up to 15 digits: 100 of 999.9, 0.1 of 0.5; 0 where that is too small.
[[nodiscard]] double power_of_ten_below(double value);

// The divisors of a positive number, 1 and itself among them, ascending. Above 2^32 only 1: to find the others takes long.
[[nodiscard]] std::vector<int64_t> divisors_of(int64_t number);

// IntRanges: "0|5-8|100-120" as MindSpore writes iterations, with ',' accepted for '|'. Empty means: everything.

class IntRanges {
 public:
  // kUsage errors name the item that cannot be understood.
  static Result<IntRanges> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(int64_t value) const;

 private:
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // inclusive
};

// The version of a framework as numbers, so that 2.10 is later than 2.9.

// {2, 10, 0}. Missing parts are 0.
struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};
// "2.5", "2.5.0", "2.3.0rc2": the leading numbers; no value when the text does not begin with one.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

}  // namespace msdump
