// Arithmetic with the same result on every CPU, ranges of integers, and versions. (The C library has several versions of
// exp, log, pow and hypot for CPUs with and without fused multiply-add; they differ in the last digit.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

// sqrt(x² + y²) within one unit in the last place. Infinite if x or y is; else NaN if x or y is.
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

// The relative distance up to which two results of double precision are the same number.
inline constexpr double kNineDigits = 1e-9;

// An estimate to six significant digits. Later digits of exp() and log() differ between CPUs.
[[nodiscard]] double rounded(double estimate);
[[nodiscard]] inline std::optional<double> rounded(const std::optional<double>& estimate) {
  return estimate ? std::optional(rounded(*estimate)) : std::nullopt;
}

// The element at `share` of the sorted values, without interpolation: 0.5 is the median, of an even number the upper one,
// and 1 the largest. Reorders `values`, which must not be empty.
[[nodiscard]] double quantile_of_unsorted(std::span<double> values, double share);

// The largest power of ten that is not above a number of up to 15 digits: 100 for 999.9, 0.1 for 0.5. 0 if it is too
// small for a double.
[[nodiscard]] double power_of_ten_below(double value);

// All divisors of a positive number, ascending. Above 2^32 only 1, to bound the time.
[[nodiscard]] std::vector<int64_t> divisors_of(int64_t number);

// A set of integers as MindSpore writes iterations: "0|5-8|100-120", with ',' accepted for '|'.
class IntRanges {
 public:
  // kUsage errors name the item that cannot be understood.
  static Result<IntRanges> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }  // callers take it for "all"
  [[nodiscard]] bool contains(int64_t value) const;

 private:
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // inclusive
};

// "0-4,7" of ascending numbers.
[[nodiscard]] std::string ranges_text(std::span<const int64_t> numbers);

// The version of a framework as numbers, so that 2.10 is later than 2.9. Missing parts are 0.
struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};
// The leading numbers of "2.5", "2.5.0" or "2.3.0rc2"; no value if the text does not begin with a number.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

}  // namespace msdump
