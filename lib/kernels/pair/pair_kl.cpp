#include "kernels/pair/pair_kl.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/pair/pair.h"
#include "kernels/pair/pair_element.h"

namespace msdump::kernels {
namespace {

constexpr double kFloor = 0x1p-23;      // FLT_EPSILON
constexpr double kZero = 2.220446e-16;  // as msaccucmp writes DBL_EPSILON

// Steps 1 and 2. Halves, because max - min may be infinite.
class Weight {
 public:
  Weight(double max, double min) : half_min_(0.5 * min), half_range_(0.5 * max - 0.5 * min) {}

  [[nodiscard]] double of(double x) const {
    const double weight = half_range_ > 0 ? (0.5 * x - half_min_) / half_range_ : x;
    return std::max(weight, kFloor);
  }

 private:
  double half_min_, half_range_;
};

}  // namespace

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| <= 0.172, as a series.
double natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), t = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * t;
  constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;  // high has 11 zeros at its end
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

void KlState::merge(const KlState& next) {
  p.add(next.p);
  q.add(next.q);
  p_log_ratio.add(next.p_log_ratio);
  finite += next.finite;
}

bool can_kl(DType dtype) {
  if (!can_pair(dtype)) return false;
  const DType becomes = info(dtype).npy_dtype;
  return becomes != DType::kComplex64 && becomes != DType::kComplex128;
}

void kl_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const KlRange& range,
              KlState& state) {
  assert(can_kl(dtype));
  const DType stored = element::stored_as(dtype);
  const int64_t bytes = element::bytes(dtype);
  const Weight weight_a(range.max_a, range.min_a), weight_b(range.max_b, range.min_b);
  for (int64_t at = 0; at < count; ++at, a += bytes, b += bytes) {
    const double x = element::as_double(stored, a), y = element::as_double(stored, b);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const double p = weight_a.of(x), q = weight_b.of(y);
    state.p.add(p);
    state.q.add(q);
    state.p_log_ratio.add(p * (natural_log(p) - natural_log(q)));
    ++state.finite;
  }
}

// With p = P / sum P and q = Q / sum Q: sum P ln(P / Q) / sum P + ln(sum Q / sum P).
std::optional<double> finish(const KlState& state) {
  if (state.finite == 0) return std::nullopt;
  const double p = state.p.value(), q = state.q.value();
  if (!std::isfinite(p) || !std::isfinite(q)) return std::nullopt;
  const double divergence = state.p_log_ratio.value() / p + (natural_log(q) - natural_log(p));
  return std::abs(divergence) < kZero ? 0 : divergence;
}

}  // namespace msdump::kernels
