// From a state to the metrics.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/pair/pair.h"

namespace msdump::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// sqrt(a / b); infinite when only b is 0.
double root_of_ratio(const WideSum& a, const WideSum& b) {
  const Scaled above = a.total(), below = b.total();
  if (above.value == 0) return 0;
  if (below.value == 0) return kInf;
  return root_of({above.value / below.value, above.exponent - below.exponent});
}

std::optional<double> cosine(const PairState& state) {
  const Scaled a = state.squares_a.total(), b = state.squares_b.total(), product = state.products.total();
  if (a.value == 0 || b.value == 0) return std::nullopt;
  if (state.equal == state.finite) return 1.0;  // which the roots of equal sums may miss by their last digit
  const auto even = [](Scaled x) {
    return x.exponent % 2 == 0 ? x : Scaled{std::ldexp(x.value, x.exponent % 2), x.exponent - x.exponent % 2};
  };
  const Scaled x = even(a), y = even(b);
  const double ratio = product.value / (std::sqrt(x.value) * std::sqrt(y.value));
  return std::clamp(std::ldexp(ratio, product.exponent - x.exponent / 2 - y.exponent / 2), -1.0, 1.0);
}

std::optional<double> quantile(const PairState& state, uint64_t rank) {
  if (!state.has_magnitudes) return std::nullopt;
  return state.magnitudes.at_rank(rank, state.finite - state.magnitudes.total());
}

}  // namespace

PairMetrics finish(const PairState& state) {
  PairMetrics metrics;
  metrics.count = state.finite;
  metrics.equal = state.equal;
  metrics.over_tolerance = state.over_tolerance;
  metrics.reference_zero = state.reference_zero;
  metrics.nan_a = state.nan_a;
  metrics.nan_b = state.nan_b;
  metrics.nan_mismatch = state.nan_mismatch;
  metrics.inf_mismatch = state.inf_mismatch;
  metrics.mean_a = state.a.mean();
  metrics.mean_b = state.b.mean();
  metrics.std_a = state.a.deviation();
  metrics.std_b = state.b.deviation();
  metrics.max_a = state.a.max();
  metrics.max_b = state.b.max();
  metrics.min_a = state.a.min();
  metrics.min_b = state.b.min();
  if (state.finite == 0) return metrics;

  const auto count = static_cast<double>(state.finite);
  Scaled mean_square = state.squares.total();
  mean_square.value /= count;
  metrics.max_abs = state.max_abs;
  metrics.max_rel = state.reference_zero > 0 ? kInf : state.max_rel;
  metrics.max_scaled = state.max_scaled;
  metrics.mean_abs = state.abs.over(count);
  if (state.reference_nonzero > 0) metrics.mean_rel = state.relative.over(static_cast<double>(state.reference_nonzero));
  metrics.rmse = root_of(mean_square);
  metrics.l2_distance = root_of(state.squares.total());
  metrics.relative_l2 = root_of_ratio(state.squares, state.squares_b);
  metrics.cosine = cosine(state);
  metrics.under_1e3 = static_cast<double>(state.under_1e3) / count;
  metrics.under_5e3 = static_cast<double>(state.under_5e3) / count;
  metrics.p50_abs = quantile(state, (state.finite - 1) / 2);
  metrics.p99_abs = quantile(state, state.finite - 1 - state.finite / 100);
  metrics.max_ulp = state.max_ulp;
  metrics.worst = state.worst;
  return metrics;
}

}  // namespace msdump::kernels
