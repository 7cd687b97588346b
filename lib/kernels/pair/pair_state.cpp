#include "kernels/pair/pair_state.h"

#include <algorithm>

#include "kernels/pair/pair_facts.h"

namespace msdump::kernels {

// Squares of two groups, each about its own mean, and of the distance between the means (Chan, Golub, LeVeque).
void Moments::take(uint64_t count, double mean, double half_rest, double max, double min) {
  const auto before = static_cast<double>(count_), added = static_cast<double>(count), all = before + added;
  max_ = std::max(max_, max);
  min_ = std::min(min_, min);
  count_ += count;
  if (before == 0) {
    mean_ = mean;
    half_rest_ = half_rest;
    return;
  }
  const double half = (0.5 * mean - 0.5 * mean_) + (half_rest - half_rest_);  // of the distance, which may be infinite
  if (half == 0) return;
  half_rest_ += half * (added / all);
  Scaled between = scaled_square(half);
  between.value *= 4 * (before * (added / all));
  if (std::abs(between.exponent) < 900) between = {std::ldexp(between.value, between.exponent), 0};
  squares_.add(between);
}

void Moments::add(const BlockMoments& block) {
  if (block.count == 0) return;
  take(block.count, block.mean, 0.5 * block.mean_rest, block.max, block.min);
  sum_.add(block.sum);
  squares_.add(block.squares);
}

void Moments::add(const Moments& next) {
  if (next.count_ == 0) return;
  take(next.count_, next.mean_, next.half_rest_, next.max_, next.min_);
  sum_.add(next.sum_);
  squares_.add(next.squares_);
}

std::optional<double> Moments::mean() const {
  if (count_ == 0) return std::nullopt;
  return squares_.total().value == 0 ? mean_ : sum_.over(static_cast<double>(count_));
}

std::optional<double> Moments::deviation() const {
  if (count_ == 0) return std::nullopt;
  Scaled variance = squares_.total();
  variance.value = std::max(0.0, variance.value / static_cast<double>(count_));
  return root_of(variance);
}

std::optional<double> Moments::max() const { return count_ == 0 ? std::nullopt : std::optional(max_); }
std::optional<double> Moments::min() const { return count_ == 0 ? std::nullopt : std::optional(min_); }

void PairState::add(const BlockFacts& block) {
  if (block.finite > 0 && (!worst || block.sums.max_abs > max_abs)) {
    worst = elements + static_cast<uint64_t>(block.worst);
    max_abs = block.sums.max_abs;
  }
  max_rel = std::max(max_rel, block.sums.max_rel);
  max_scaled = std::max(max_scaled, block.sums.max_scaled);
  if (block.max_ulp) max_ulp = std::max(max_ulp.value_or(0), *block.max_ulp);
  const auto count = [](uint64_t& total, int64_t more) { total += static_cast<uint64_t>(more); };
  count(elements, block.elements);
  count(finite, block.finite);
  count(equal, block.equal);
  count(reference_zero, block.reference_zero);
  count(reference_nonzero, block.reference_nonzero);
  count(under_1e3, block.sums.under_1e3);
  count(under_5e3, block.sums.under_5e3);
  count(over_tolerance, block.sums.over_tolerance);
  count(nan_a, block.specials.nan_a);
  count(nan_b, block.specials.nan_b);
  count(nan_mismatch, block.specials.nan_mismatch);
  count(inf_mismatch, block.specials.inf_mismatch);
  abs.add(block.sums.abs);
  relative.add(block.sums.relative);
  squares.add(block.sums.squares);
  squares_a.add(block.sums.squares_a);
  squares_b.add(block.sums.squares_b);
  products.add(block.sums.products);
  a.add(block.a);
  b.add(block.b);
}

void PairState::merge(const PairState& next) {
  if (next.worst && (!worst || next.max_abs > max_abs)) {
    worst = elements + *next.worst;
    max_abs = next.max_abs;
  }
  max_rel = std::max(max_rel, next.max_rel);
  max_scaled = std::max(max_scaled, next.max_scaled);
  if (next.max_ulp) max_ulp = std::max(max_ulp.value_or(0), *next.max_ulp);
  elements += next.elements;
  finite += next.finite;
  equal += next.equal;
  reference_zero += next.reference_zero;
  reference_nonzero += next.reference_nonzero;
  under_1e3 += next.under_1e3;
  under_5e3 += next.under_5e3;
  over_tolerance += next.over_tolerance;
  nan_a += next.nan_a;
  nan_b += next.nan_b;
  nan_mismatch += next.nan_mismatch;
  inf_mismatch += next.inf_mismatch;
  abs.add(next.abs);
  relative.add(next.relative);
  squares.add(next.squares);
  squares_a.add(next.squares_a);
  squares_b.add(next.squares_b);
  products.add(next.products);
  a.add(next.a);
  b.add(next.b);
  magnitudes.add(next.magnitudes);
  has_magnitudes |= next.has_magnitudes;
}

}  // namespace msdump::kernels
