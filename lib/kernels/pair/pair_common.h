// Parts of pair that are not worth a vector form: the vectors' steps and the definition both come here. Internal to
// lib/kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/pair/pair_facts.h"

namespace msdump::kernels {

// Whether the squares of numbers up to this one, and sums of 2^60 of them, are ordinary doubles. Smaller numbers may be
// among them: what their squares lose does not show. float64 alone has others.
inline bool has_ordinary_squares(double max_magnitude) {
  return max_magnitude == 0 || (max_magnitude >= 0x1p-480 && max_magnitude <= 0x1p480);
}
inline bool has_ordinary_squares(double max, double min) {
  return has_ordinary_squares(std::max(std::abs(max), std::abs(min)));
}

// The sums of pairs of which one has no ordinary square; zeros for the pairs that are not finite.
[[nodiscard]] BlockSums add_wide_pairs(std::span<const double> a, std::span<const double> b, const PairRule& rule,
                                       Magnitudes& magnitudes);
[[nodiscard]] Scaled add_wide_squares(std::span<const double> magnitudes);

// One side's finite values as distances from `shift`, in lanes; `from` are stored elements, those not finite are left
// out.
[[nodiscard]] OwnSums add_own_finite(DType stored, const std::byte* from, int64_t count, Shift shift);

// One side of which some have no ordinary square; float64.
[[nodiscard]] BlockMoments wide_moments(const std::byte* from, int64_t count, double max, double min);

// A value of its dtype, cut to an integer, and that as a double.
[[nodiscard]] Shift integer_at(DType stored, double value);

// One side's `count` finite values, from their plain sums; `again` gives the sums for a shift.
template <class Again>
[[nodiscard]] BlockMoments moments_of(DType stored, int64_t count, OwnSums plain, double max, double min, Again again) {
  const bool is_long = stored == DType::kInt64 || stored == DType::kUint64;
  BlockMoments moments;
  if (count == 0) return moments;
  const auto number = static_cast<double>(count);
  moments.count = static_cast<uint64_t>(count);
  moments.sum.value = plain.sum;
  moments.max = max;
  moments.min = min;
  moments.mean = plain.sum / number;
  if (max == min && !is_long) {
    moments.mean = max;
    return moments;
  }
  double squares = plain.squares - plain.sum * moments.mean;
  // With a mean of more than 11 deviations the difference has lost too much. Long integers have as doubles already.
  if (squares < plain.squares * 0x1p-7 || is_long) {
    const Shift shift = is_long ? integer_at(stored, std::clamp(moments.mean, min, max)) : Shift{moments.mean, 0};
    const OwnSums shifted = again(shift);
    squares = shifted.squares - shifted.sum * (shifted.sum / number);
    moments.mean = shift.value;
    moments.mean_rest = shifted.sum / number;
  }
  moments.squares.value = std::max(0.0, squares);
  return moments;
}

// One pair more of which `max` is the largest d / base. A product and rarely a division: the quotient can be missed by
// its last bit, the same way wherever the pairs come in the same order. 0 / 0 is nothing.
inline void raise_to_quotient(double& max, double d, double base) {
  if (d > max * base) max = d / base;
}

// The first pair whose d is `max`, which at least one has.
[[nodiscard]] int64_t first_with(std::span<const double> magnitudes, double max);

}  // namespace msdump::kernels
