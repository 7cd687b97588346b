#include "base/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

// A number as text, with `digits` after the point and an exponent: "-1.500000e-07".
class Scientific {
 public:
  // Faster than fmt, which multiplies large integers.
  Scientific(double value, int digits)
      : end_(std::to_chars(text_.data(), text_.data() + text_.size(), value, std::chars_format::scientific, digits)
                 .ptr) {}
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

double quantile_of_unsorted(std::span<double> values, double share) {
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size()));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

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

Result<IntRanges> IntRanges::parse(std::string_view text) {
  IntRanges result;
  std::string unified(text);
  std::replace(unified.begin(), unified.end(), ',', '|');
  for (const std::string_view item : split(unified, '|')) {
    const size_t dash = item.find('-');
    const auto low = parse_i64(item.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_i64(item.substr(dash + 1));
    if (!low || !high || *low < 0 || *high < *low) {
      return fail(make_error(ErrorCode::kUsage, "'{}' is not a number or a range such as 5-8", item)
                      .with_hint("write 0|5-8|100-120 or 0,5-8"));
    }
    result.ranges_.emplace_back(*low, *high);
  }
  return result;
}

bool IntRanges::contains(int64_t value) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return range.first <= value && value <= range.second; });
}

std::string ranges_text(std::span<const int64_t> numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::optional<Version> parse_version(std::string_view text) {
  std::array<int, 3> numbers{};
  size_t at = 0, count = 0;
  while (count < numbers.size()) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    const auto number = parse_u64(text.substr(begin, at - begin));
    if (!number || *number > 10000) break;
    numbers[count++] = static_cast<int>(*number);
    if (at >= text.size() || text[at] != '.') break;
    ++at;
  }
  if (count == 0) return std::nullopt;
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string to_string(const Version& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace msdump
