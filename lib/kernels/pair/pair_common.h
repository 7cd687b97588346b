// Parts of pair that do not pay as vectors, shared by the vector steps and the definition. Internal to lib/kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/pair/pair_facts.h"

namespace msdump::kernels {

// Whether the squares of numbers up to this one, and sums of 2^60 of them, are ordinary doubles. There may be smaller
// numbers: what their squares lose does not show. Only float64 has numbers for which this is false.
inline bool has_ordinary_squares(double max_magnitude) {
  return max_magnitude == 0 || (max_magnitude >= 0x1p-480 && max_magnitude <= 0x1p480);
}
inline bool has_ordinary_squares(double max, double min) {
  return has_ordinary_squares(std::max(std::abs(max), std::abs(min)));
}

// The sums when the square of some pair is not an ordinary double; zeros for the pairs that are not finite.
[[nodiscard]] BlockSums add_wide_pairs(std::span<const double> a, std::span<const double> b, const PairRule& rule,
                                       Magnitudes& magnitudes);
[[nodiscard]] Scaled add_wide_squares(std::span<const double> magnitudes);

// The sums of one side's finite values, as distances from `shift`; `from` are stored elements. Skips those that are not
// finite.
[[nodiscard]] OwnSums add_own_finite(DType stored, const std::byte* from, int64_t count, Shift shift);

// One side with squares that are not ordinary doubles; float64.
[[nodiscard]] BlockMoments wide_moments(const std::byte* from, int64_t count, double max, double min);

// A value of the dtype, cut to an integer, and the same as a double.
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
  // With a mean above 11 deviations, the difference has lost too many digits. Long integers lose them as doubles.
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

// Raises `max`, the largest d / base, by one pair. Multiplies and rarely divides: the quotient can be wrong in its last
// bit, always in the same way for pairs in the same order. 0 / 0 changes nothing.
inline void raise_to_quotient(double& max, double d, double base) {
  if (d > max * base) max = d / base;
}

// The first pair whose d is `max`, which at least one has.
[[nodiscard]] int64_t first_with(std::span<const double> magnitudes, double max);

}  // namespace msdump::kernels
