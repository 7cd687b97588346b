#include "kernels/pair/pair_common.h"

#include "base/load.h"
#include "kernels/pair/pair_element.h"

namespace msdump::kernels {
namespace {

int exponent_of(double x) {
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  return exponent;
}

double largest(std::span<const double> values) {
  double max = 0;
  for (const double value : values) max = std::max(max, std::abs(value));
  return max;
}

double max_of(const Lanes& lanes) { return *std::max_element(std::begin(lanes), std::end(lanes)); }

// d of doubles whose difference may overflow: then half of it is compared with half of the bound.
struct Difference {
  double half_a, half_b;
  double full;  // infinite when it is too large

  Difference(double a, double b) : half_a(0.5 * a), half_b(0.5 * b), full(std::abs(a - b)) {}

  [[nodiscard]] double half() const { return std::abs(half_a - half_b); }
  [[nodiscard]] double over(double reference) const {
    return std::isfinite(full) ? full / reference : half() / (0.5 * reference);
  }
  // d / (reference + scale)
  [[nodiscard]] double over(double reference, double scale) const {
    const double base = reference + scale;
    if (half() == 0) return 0;
    return std::isfinite(full) && std::isfinite(base) ? full / base : half() / (0.5 * reference + 0.5 * scale);
  }
  [[nodiscard]] bool exceeds(double rtol, double atol, double reference) const {
    return std::isfinite(full) ? full > atol + rtol * reference : half() > 0.5 * atol + rtol * (0.5 * reference);
  }
};

}  // namespace

BlockSums block_sums(const LaneSums& lanes) {
  BlockSums sums;
  sums.abs.value = sum_of(lanes.abs);
  sums.squares.value = sum_of(lanes.squares);
  sums.squares_a.value = sum_of(lanes.squares_a);
  sums.squares_b.value = sum_of(lanes.squares_b);
  sums.products.value = sum_of(lanes.products);
  sums.relative = sum_of(lanes.relative);
  sums.max_abs = max_of(lanes.max_abs);
  sums.max_rel = max_of(lanes.max_rel);
  sums.max_scaled = max_of(lanes.max_scaled);
  sums.under_1e3 = lanes.under_1e3;
  sums.under_5e3 = lanes.under_5e3;
  sums.over_tolerance = lanes.over_tolerance;
  return sums;
}

Scaled add_wide_squares(std::span<const double> magnitudes) {
  const int exponent = exponent_of(largest(magnitudes));
  Scaled squares{0, 2 * exponent};
  for (const double magnitude : magnitudes) {
    const double scaled = std::ldexp(magnitude, -exponent);
    squares.value += scaled * scaled;
  }
  return squares;
}

BlockSums add_wide_pairs(std::span<const double> a, std::span<const double> b, const PairRule& rule,
                         Magnitudes& magnitudes) {
  const int exponent_a = exponent_of(largest(a)), exponent_b = exponent_of(largest(b));
  BlockSums sums;
  sums.squares_a.exponent = 2 * exponent_a;
  sums.squares_b.exponent = 2 * exponent_b;
  sums.products.exponent = exponent_a + exponent_b;
  double halves[kPairBlock];  // of d
  for (size_t i = 0; i < a.size(); ++i) {
    const Difference d(a[i], b[i]);
    const double reference = std::abs(b[i]), ratio = reference != 0 ? d.over(reference) : 0;
    const double x = std::ldexp(a[i], -exponent_a), y = std::ldexp(b[i], -exponent_b);
    halves[i] = d.half();
    magnitudes.values[i] = d.full;
    sums.squares_a.value += x * x;
    sums.squares_b.value += y * y;
    sums.products.value += x * y;
    sums.relative += ratio;
    sums.max_abs = std::max(sums.max_abs, d.full);
    sums.max_rel = std::max(sums.max_rel, ratio);
    sums.max_scaled = std::max(sums.max_scaled, d.over(reference, rule.scale));
    sums.under_1e3 += ratio < 1e-3 ? 1 : 0;
    sums.under_5e3 += ratio < 5e-3 ? 1 : 0;
    sums.over_tolerance += d.exceeds(rule.rtol, rule.atol, reference) ? 1 : 0;
  }
  const bool too_large = !std::isfinite(sums.max_abs);
  const std::span<const double> differences(too_large ? halves : magnitudes.values, a.size());
  sums.squares = add_wide_squares(differences);
  sums.abs.exponent = sums.squares.exponent / 2;
  for (const double d : differences) sums.abs.value += std::ldexp(d, -sums.abs.exponent);
  if (too_large) {
    sums.squares.exponent += 2;
    sums.abs.exponent += 1;
  }
  return sums;
}

OwnSums add_own_finite(DType stored, const std::byte* from, int64_t count, Shift shift) {
  const int64_t bytes = element::bytes(stored);
  Lanes sums = {}, squares = {};
  for (int64_t at = 0; at < count; ++at, from += bytes) {
    double x = element::as_double(stored, from);
    if (!std::isfinite(x)) continue;
    if (element::has_exact_difference(stored)) {
      const int64_t code = element::code_of(stored, from);
      const auto distance = static_cast<double>(element::distance(stored, code, shift.integer));
      x = element::is_less(stored, code, shift.integer) ? -distance : distance;
    } else {
      x -= shift.value;
    }
    sums[at % static_cast<int64_t>(kLanes)] += x;
    squares[at % static_cast<int64_t>(kLanes)] += x * x;
  }
  return {sum_of(sums), sum_of(squares)};
}

Shift integer_at(DType stored, double value) {
  constexpr double kEnd = 0x1p63;
  Shift shift;
  if (stored == DType::kUint64) {
    const uint64_t integer = value >= 2 * kEnd ? ~uint64_t{0} : static_cast<uint64_t>(value);
    shift.integer = static_cast<int64_t>(integer);
    shift.value = static_cast<double>(integer);
  } else {
    shift.integer = value >= kEnd ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(value);
    shift.value = static_cast<double>(shift.integer);
  }
  return shift;
}

BlockMoments wide_moments(const std::byte* from, int64_t count, double max, double min) {
  const int exponent = exponent_of(std::max(std::abs(max), std::abs(min)));
  double scaled[kPairBlock];
  size_t number = 0;
  double sum = 0;
  for (int64_t at = 0; at < count; ++at) {
    const auto x = load<double>(from + at * 8);
    if (!std::isfinite(x)) continue;
    scaled[number] = std::ldexp(x, -exponent);
    sum += scaled[number++];
  }
  if (number == 0) return {};
  const auto n = static_cast<double>(number);
  const double mean = sum / n;
  double rest = 0, squares = 0;
  for (size_t i = 0; i < number; ++i) {
    rest += scaled[i] - mean;
    squares += (scaled[i] - mean) * (scaled[i] - mean);
  }
  squares = max == min ? 0 : std::max(0.0, squares - rest * (rest / n));
  return {.count = number,
          .sum = {sum, exponent},
          .mean = max == min ? max : std::ldexp(mean + rest / n, exponent),
          .mean_rest = 0,
          .squares = {squares, 2 * exponent},
          .max = max,
          .min = min};
}

int64_t first_with(std::span<const double> magnitudes, double max) {
  return std::find(magnitudes.begin(), magnitudes.end(), max) - magnitudes.begin();
}

}  // namespace msdump::kernels
