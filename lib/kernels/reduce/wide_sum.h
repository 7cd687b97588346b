// A sum of many doubles that loses almost nothing and has room for the squares of any of them. Internal to lib/kernels.
//
// What each addition rounds away is kept and added in the end (TwoSum of Knuth), so that the error does not grow with
// the number of terms; an exponent of its own lets a term be (1e300)^2 or (1e-300)^2. Terms with exponent 0, which are
// nearly all, cost a few additions. Terms in the same order give the same bits everywhere.
#pragma once

#include <cmath>

namespace msdump::kernels {

struct Scaled {
  double value = 0;
  int exponent = 0;  // value * 2^exponent

  bool operator==(const Scaled&) const = default;
};

// The square root, as a double: infinity when there is none so large.
inline double root_of(Scaled x) {
  const int odd = x.exponent % 2;
  return std::ldexp(std::sqrt(odd != 0 ? std::ldexp(x.value, odd) : x.value), (x.exponent - odd) / 2);
}

// The factor is a double, but its square need not be one.
inline Scaled scaled_square(double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  return {fraction * fraction, 2 * exponent};
}

class WideSum {
 public:
  void add(double x) { add(Scaled{x, 0}); }

  void add(Scaled x) {
    if (x.value == 0) return;
    if (x.exponent != exponent_) align(x);
    const double sum = high_ + x.value;
    if (std::isfinite(sum)) {
      const double added = sum - high_;
      low_ += (high_ - (sum - added)) + (x.value - added);
    }
    high_ = sum;
  }

  void add(const WideSum& other) {
    add(Scaled{other.high_, other.exponent_});
    add(Scaled{other.low_, other.exponent_});
  }

  [[nodiscard]] Scaled total() const { return {std::isfinite(high_) ? high_ + low_ : high_, exponent_}; }
  [[nodiscard]] double value() const { return std::ldexp(total().value, exponent_); }
  [[nodiscard]] double over(double divisor) const { return std::ldexp(total().value / divisor, exponent_); }

  bool operator==(const WideSum&) const = default;

 private:
  // The larger exponent stays: what the other side loses is far below the last digit.
  void align(Scaled& x) {
    if (high_ == 0 && low_ == 0) {
      exponent_ = x.exponent;
    } else if (x.exponent > exponent_) {
      high_ = std::ldexp(high_, exponent_ - x.exponent);
      low_ = std::ldexp(low_, exponent_ - x.exponent);
      exponent_ = x.exponent;
    } else {
      x.value = std::ldexp(x.value, x.exponent - exponent_);
    }
  }

  double high_ = 0, low_ = 0;
  int exponent_ = 0;
};

}  // namespace msdump::kernels
