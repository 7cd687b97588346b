// What the kernels of pair find in a block of at most kPairBlock pairs, and the steps they find it in. Internal to
// lib/kernels.
//
//     1  codes      elements as integers in the order of their values: extremes, equality, ulp; are there NaNs?
//     2  specials   if there are NaNs or infinities: counts of them; copies of the block in which those pairs are zeros
//     3  sums       elements as doubles: all sums, and d of each pair
//     4  moments    once more, as distances from the mean, for a side whose sums do not give its deviation
//
// Their vector forms are in pair_codes.cpp, pair_specials.cpp and pair_sums.cpp; pair.cpp runs the steps. The
// definition is pair_reference.cpp. Both share pair_common.h, which has what is rare or cheap.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "kernels/pair/pair.h"
#include "kernels/reduce/reduce_block.h"
#include "tensor/dtype.h"

namespace msdump::kernels {

// As integers in the order of the values: floats with -0 = +0, uint64 as its bits. Padding is the caller's.
struct CodeFacts {
  int64_t equal = 0;
  int64_t zero_b = 0, zero_both = 0;
  int64_t max_a = 0, min_a = 0, max_b = 0, min_b = 0;
  uint64_t max_ulp = 0;
};

struct SpecialFacts {
  int64_t finite = 0;  // pairs
  int64_t finite_a = 0, finite_b = 0;
  int64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  int64_t max_a = 0, min_a = 0, max_b = 0, min_b = 0;  // codes of each side's own finite values
};

// Eight sums each; element i of a block is added to lane i mod 8.
constexpr size_t kLanes = 8;
using Lanes = double[kLanes];

inline double sum_of(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

struct LaneSums {
  alignas(64) Lanes abs = {};
  alignas(64) Lanes squares = {};
  alignas(64) Lanes relative = {};
  alignas(64) Lanes squares_a = {};
  alignas(64) Lanes squares_b = {};
  alignas(64) Lanes products = {};
  alignas(64) Lanes sum_a = {};
  alignas(64) Lanes sum_b = {};
  alignas(64) Lanes max_abs = {};
  alignas(64) Lanes max_rel = {};
  alignas(64) Lanes max_scaled = {};
  int64_t under_1e3 = 0, under_5e3 = 0, over_tolerance = 0;
};

// The sums of a block.
struct BlockSums {
  Scaled abs, squares, squares_a, squares_b, products;
  double relative = 0, max_abs = 0, max_rel = 0, max_scaled = 0;
  int64_t under_1e3 = 0, under_5e3 = 0, over_tolerance = 0;
};

// Pairs that are not finite are zeros in the lanes and count as `under`, and so does b = 0 with a != 0 (a ratio of 0).
[[nodiscard]] BlockSums block_sums(const LaneSums& lanes);

struct BlockFacts {
  int64_t elements = 0, finite = 0;
  int64_t equal = 0, reference_zero = 0, reference_nonzero = 0;
  int64_t worst = 0;  // the first pair that has max_abs; any pair if the state has one as large
  std::optional<uint64_t> max_ulp;
  SpecialFacts specials;
  BlockSums sums;
  BlockMoments a, b;
};

// d of each pair of a block, with room for a whole vector.
struct Magnitudes {
  alignas(64) double values[kPairBlock];
};

struct OwnSums {
  double sum = 0, squares = 0;
};

// What is subtracted from each value first: `integer` from 64-bit integers, which makes them exact, `value` from all
// others.
struct Shift {
  double value = 0;
  int64_t integer = 0;
};

// The vectors' forms; `stored` as element::stored_as has it, not complex nor one that needs widening. To be used only
// where the CPU has vectors and "scalar" is not forced.
[[nodiscard]] bool has_pair_vectors();
[[nodiscard]] CodeFacts code_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count);

// `a` and `b` with zeros for the pairs that are not finite, and each side with zeros for what is not finite in itself.
struct Cleaned {
  alignas(64) std::byte a[kPairBlock * 8];
  alignas(64) std::byte b[kPairBlock * 8];
  alignas(64) std::byte own_a[kPairBlock * 8];
  alignas(64) std::byte own_b[kPairBlock * 8];
};
[[nodiscard]] SpecialFacts clean_specials(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                          Cleaned& cleaned);

[[nodiscard]] LaneSums add_pairs(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                 const PairRule& rule, Magnitudes& magnitudes);
[[nodiscard]] OwnSums add_own(DType stored, const std::byte* from, int64_t count, Shift shift);

}  // namespace msdump::kernels

namespace msdump::kernels::element {

// One element of a pair as an integer in the order of the values. Internal to lib/kernels.
//
//     floats     the magnitude's bits, with the sign: -0 and +0 are 0, neighbouring values differ by 1, NaNs are beyond
//                the infinities
//     integers   themselves, uint64 as its bits; bool is 0 or 1

inline int64_t ordered(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

inline int64_t code_of(DType stored, const std::byte* at) {
  switch (stored) {
    case DType::kBool: return load<uint8_t>(at) != 0 ? 1 : 0;
    case DType::kInt8: return load<int8_t>(at);
    case DType::kUint8: return load<uint8_t>(at);
    case DType::kInt16: return load<int16_t>(at);
    case DType::kUint16: return load<uint16_t>(at);
    case DType::kInt32: return load<int32_t>(at);
    case DType::kUint32: return load<uint32_t>(at);
    case DType::kInt64:
    case DType::kUint64: return load<int64_t>(at);
    case DType::kFloat16:
    case DType::kBfloat16: return ordered(load<uint16_t>(at), 16);
    case DType::kFloat32: return ordered(load<uint32_t>(at), 32);
    default: return ordered(load<uint64_t>(at), 64);
  }
}

// The code of infinity; 0 for dtypes that have none.
inline int64_t infinity_code(DType stored) {
  switch (stored) {
    case DType::kFloat16: return 0x7C00;
    case DType::kBfloat16: return 0x7F80;
    case DType::kFloat32: return 0x7F80'0000;
    case DType::kFloat64: return 0x7FF0'0000'0000'0000;
    default: return 0;
  }
}

inline double value_of_code(DType stored, int64_t code) {
  switch (stored) {
    case DType::kUint64: return static_cast<double>(static_cast<uint64_t>(code));
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat32:
    case DType::kFloat64: {
      const int64_t magnitude = code < 0 ? -code : code;
      const double value = as_double(stored, reinterpret_cast<const std::byte*>(&magnitude));  // little-endian
      return code < 0 ? -value : value;
    }
    default: return static_cast<double>(code);
  }
}

inline bool has_exact_difference(DType stored) { return stored == DType::kInt64 || stored == DType::kUint64; }

// Of codes.
inline bool is_less(DType stored, int64_t a, int64_t b) {
  return stored == DType::kUint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// As an integer, which is exact even for 64-bit integers.
inline uint64_t distance(DType stored, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  return is_less(stored, a, b) ? ub - ua : ua - ub;
}

}  // namespace msdump::kernels::element

namespace msdump::kernels {

// Parts of pair that do not pay as vectors, shared by the vector steps and the definition. Internal to lib/kernels.

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

// One block of at most kPairBlock pairs, in each of its forms. Internal to lib/kernels.

// `stored` as element::stored_as has it, neither complex nor one that needs widening. `magnitudes` gets d of each pair,
// 0 for those that are not finite.
[[nodiscard]] BlockFacts block_facts_reference(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                               const PairRule& rule, Magnitudes& magnitudes);

// complex64 and complex128, element by element: there is no vector form.
[[nodiscard]] BlockFacts complex_block_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                             const PairRule& rule, Magnitudes& magnitudes);

// The largest distance between two codes of one byte or less among the finite pairs: in steps from one value of the
// dtype to the next.
[[nodiscard]] uint64_t max_ulp_of_codes(DType dtype, const std::byte* a, const std::byte* b, int64_t count);

}  // namespace msdump::kernels
