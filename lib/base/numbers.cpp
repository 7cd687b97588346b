#include "base/numbers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace msdump {

namespace {

// A number as text, with `digits` after the point and an exponent: "-1.500000e-07".
class Scientific {
 public:
  Scientific(double value, int digits) : end_(fmt::format_to(text_.data(), "{:.{}e}", value, digits)) {}
  [[nodiscard]] std::string_view text() const { return {text_.data(), end_}; }
  [[nodiscard]] std::string_view exponent() const { return text().substr(text().find('e')); }

 private:
  std::array<char, 32> text_{};
  const char* end_;
};

double parsed(std::string_view text) {
  double value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

double rounded(double estimate) { return std::isfinite(estimate) ? parsed(Scientific(estimate, 5).text()) : estimate; }

double power_of_ten_below(double value) { return parsed("1" + std::string(Scientific(value, 14).exponent())); }

std::vector<int64_t> divisors_of(int64_t number) {
  constexpr int64_t kMostDivided = int64_t{1} << 32;
  if (number > kMostDivided) return {1};
  std::vector<int64_t> small, large;
  for (int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    small.push_back(i);
    if (i * i < number) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace msdump
