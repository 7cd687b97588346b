// Floating-point numbers as decimal digits, the way numpy prints them: the fewest digits that read back as the same
// number of its type (float16 65504 is 65500), or the exact value rounded to so many places, ties to even.
#pragma once

#include <cstdint>
#include <string>

namespace msdump {

enum class FloatWidth : uint8_t { kHalf, kSingle, kDouble };

// +-D.DDD x 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits = "0";  // no zeros at its end but for "0" itself
  int exponent = 0;          // of the first digit

  // "12", "0": what stands before the point, without sign, and behind it ("" when nothing does).
  [[nodiscard]] std::string integer_part() const;
  [[nodiscard]] std::string fraction() const;
  [[nodiscard]] int places() const;  // length of fraction()
};

// All take finite values only; `value` is one of `width`.
[[nodiscard]] Decimal shortest_decimal(double value, FloatWidth width);
// The same, but no more than so many digits behind the point, or behind the first digit; a longer one is rounded from
// the exact value.
[[nodiscard]] Decimal fixed_decimal(double value, FloatWidth width, int most_places);
[[nodiscard]] Decimal scientific_decimal(double value, FloatWidth width, int most_places);
// The exact value, rounded to so many digits behind the first one.
[[nodiscard]] Decimal exact_decimal(double value, int places);

}  // namespace msdump
