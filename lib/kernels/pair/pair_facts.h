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

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/pair/pair.h"
#include "kernels/pair/pair_state.h"

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
