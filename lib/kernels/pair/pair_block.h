// Metrics of one block of at most kPairBlock pairs. Internal to lib/kernels.
//
//     1  codes      elements as integers in the order of their values: extremes, equality, ulp
//     2  specials   if there are NaNs or infinities: counts, and copies of the block with zeros for these pairs
//     3  sums       elements as doubles: all sums, and d of each pair
//     4  moments    distances from the mean, for a side whose deviation its sums do not give
//
// Vector forms are in pair_codes.cpp (1, 2) and pair_sums.cpp (3, 4); pair.cpp calls them. pair_block.cpp has the
// definition, and functions that both forms share because they are rare or cheap.
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

// Codes are integers in the order of the values: floats with -0 = +0, uint64 as its bits.
struct CodeFacts {
  int64_t equal = 0;
  int64_t zero_b = 0, zero_both = 0;
  int64_t max_a = 0, min_a = 0, max_b = 0, min_b = 0;
  uint64_t max_ulp = 0;
};

struct SpecialFacts {
  int64_t finite = 0;  // pairs of finite elements
  int64_t finite_a = 0, finite_b = 0;
  int64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  int64_t max_a = 0, min_a = 0, max_b = 0, min_b = 0;  // codes of the finite elements of each side
};

// Eight sums; element i of a block is added to lane i mod 8.
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

struct BlockSums {
  Scaled abs, squares, squares_a, squares_b, products;
  double relative = 0, max_abs = 0, max_rel = 0, max_scaled = 0;
  int64_t under_1e3 = 0, under_5e3 = 0, over_tolerance = 0;
};

// Sums of a block. Pairs that are not finite are zeros in the lanes and count in under_1e3 and under_5e3, and so does b = 0
// with a != 0 (a ratio of 0).
[[nodiscard]] BlockSums block_sums(const LaneSums& lanes);

struct BlockFacts {
  int64_t elements = 0, finite = 0;
  int64_t equal = 0, reference_zero = 0, reference_nonzero = 0;
  int64_t worst = 0;  // the first pair with max_abs; any pair if an earlier block has one as large
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

// The number to subtract from each element: `integer` from 64-bit integers, which is exact, `value` from all others.
struct Shift {
  double value = 0;
  int64_t integer = 0;
};

// Vector forms, for element::stored_as() types that are not complex and need no widening. Only for CPUs with vectors, and
// not if "scalar" is forced.
[[nodiscard]] bool has_pair_vectors();
[[nodiscard]] CodeFacts code_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count);

// `a` and `b` with zeros for pairs that are not finite; own_a and own_b with zeros for elements that are not finite.
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

// The code of an element: an integer in the order of the values.
//
//     floats     the bits of the magnitude with the sign: -0 and +0 are 0, neighbours differ by 1, NaNs are beyond the
//                infinities
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

// The code of infinity; 0 if the dtype has none.
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

// Compares codes.
inline bool is_less(DType stored, int64_t a, int64_t b) {
  return stored == DType::kUint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// Exact even for 64-bit integers.
inline uint64_t distance(DType stored, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  return is_less(stored, a, b) ? ub - ua : ua - ub;
}

}  // namespace msdump::kernels::element

namespace msdump::kernels {

// True if the squares of numbers up to this one, and sums of 2^60 of them, are in the range of a double. (The error from
// squares of smaller numbers is negligible.) False only for numbers of float64.
inline bool has_ordinary_squares(double max_magnitude) {
  return max_magnitude == 0 || (max_magnitude >= 0x1p-480 && max_magnitude <= 0x1p480);
}
inline bool has_ordinary_squares(double max, double min) {
  return has_ordinary_squares(std::max(std::abs(max), std::abs(min)));
}

// Sums of a block with a square beyond the range of a double. Pairs that are not finite are zeros.
[[nodiscard]] BlockSums add_wide_pairs(std::span<const double> a, std::span<const double> b, const PairRule& rule,
                                       Magnitudes& magnitudes);
[[nodiscard]] Scaled add_wide_squares(std::span<const double> magnitudes);

// Sums of the distances of one side's finite elements from `shift`.
[[nodiscard]] OwnSums add_own_finite(DType stored, const std::byte* from, int64_t count, Shift shift);

// Moments of a side of float64 with squares beyond the range of a double.
[[nodiscard]] BlockMoments wide_moments(const std::byte* from, int64_t count, double max, double min);

// A value of the dtype, truncated to an integer.
[[nodiscard]] Shift integer_at(DType stored, double value);

// Moments of `count` finite elements from their plain sums. sums_about(shift) computes the sums of distances from a shift.
template <class SumsAbout>
[[nodiscard]] BlockMoments moments_of(DType stored, int64_t count, OwnSums plain, double max, double min,
                                      SumsAbout sums_about) {
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
  // Above 11 deviations, a mean leaves the difference too few digits. 64-bit integers lose digits as doubles.
  if (squares < plain.squares * 0x1p-7 || is_long) {
    const Shift shift = is_long ? integer_at(stored, std::clamp(moments.mean, min, max)) : Shift{moments.mean, 0};
    const OwnSums shifted = sums_about(shift);
    squares = shifted.squares - shifted.sum * (shifted.sum / number);
    moments.mean = shift.value;
    moments.mean_rest = shifted.sum / number;
  }
  moments.squares.value = std::max(0.0, squares);
  return moments;
}

// Raises `max`, the largest d / base. It divides only if the maximum rises, so the last bit of the quotient may be wrong. It
// is the same for pairs in the same order. 0 / 0 changes nothing.
inline void raise_to_quotient(double& max, double d, double base) {
  if (d > max * base) max = d / base;
}

// The first pair with d == max; there is one.
[[nodiscard]] int64_t first_with(std::span<const double> magnitudes, double max);

// The definition, for the types of the vector forms. `magnitudes` gets d of each pair, 0 for pairs that are not finite.
[[nodiscard]] BlockFacts block_facts_reference(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                               const PairRule& rule, Magnitudes& magnitudes);

// complex64 and complex128, without a vector form.
[[nodiscard]] BlockFacts complex_block_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                             const PairRule& rule, Magnitudes& magnitudes);

// max_ulp of a dtype of at most 8 bits.
[[nodiscard]] uint64_t max_ulp_of_codes(DType dtype, const std::byte* a, const std::byte* b, int64_t count);

}  // namespace msdump::kernels
