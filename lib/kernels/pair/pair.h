// The metrics of two tensors, the candidate a and the reference b, in one pass over the pairs of their elements.
//
// Over the pairs where both sides are finite, n of them; d = |a - b|, as a double, rounded once (64-bit integers are
// subtracted exactly before that):
//
//     count          n                                        equal          pairs with a == b, -0 == +0
//     max_abs        max d                                    worst          index of the first pair that has max_abs
//     mean_abs       sum d / n                                max_rel        max d / |b|; infinite if b = 0, a != 0
//     mean_rel       mean of d / |b| over b != 0              rmse           sqrt(sum d^2 / n)
//     l2_distance    sqrt(sum d^2)                            relative_l2    sqrt(sum d^2 / sum b^2); 0 / 0 is 0
//     cosine         sum ab / sqrt(sum a^2 * sum b^2)         over_tolerance pairs with d > atol + rtol |b|
//     under_1e3      share of d / |b| < 0.001, 0 / 0 is 0     under_5e3      the same with 0.005
//     max_ulp        max of values of the dtype passed between a and b; of integers, max d
//     p50_abs, p99_abs   the d that half, 99 % of the pairs do not exceed; the lower end of an interval of 0.8 %
//     reference_zero pairs with b = 0 and a != 0         max_scaled     max d / (|b| + scale)
//
// Over one side's own finite values: mean_a, std_a (of the population), max_a, min_a; the same of b.
// Over all: nan_a, nan_b; nan_mismatch, pairs of which one is NaN; inf_mismatch, pairs without a NaN of which one is
// infinite and the other is something else, the other infinity too.
//
// Complex numbers: |a - b|, |a| and |b| are moduli, and the cosine is that of all parts as real numbers. They have no
// order, hence no max, min, mean, std and ulp. A number counts as NaN or infinite if one part is.
//
// Source of the definitions: golden.json of corpus/compare, computed with rational numbers.
//
// How it adds up: blocks of 1024 pairs from the start of a call; inside a block, pair i is added to the i mod 8th of
// eight sums, which are added up as a tree; sums of blocks are compensated (wide_sum.h). A standard deviation far below
// the mean uses distances to the mean of the block, and squares outside a double's range use scaled numbers. So the
// result depends only on where a tensor is cut into chunks, not on the CPU or threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/pair/pair_state.h"
#include "tensor/dtype.h"

namespace msdump::kernels {

struct PairRule {
  double rtol = 0, atol = 0;  // of over_tolerance; not negative
  double scale = 0;           // of max_scaled; not negative, finite
  bool ulp = true;            // false for tensors of two dtypes, of which one has been widened
  bool quantiles = true;
};

// Pairs are taken in blocks of this many.
constexpr int64_t kPairBlock = 1024;

// True for every dtype but the raw ones.
[[nodiscard]] bool can_pair(DType dtype);

// Adds the next pairs of a chunk, of elements that both are `dtype`; codes of less than a byte come unpacked, one per
// byte (widen.h). Any alignment. For a result that does not depend on slabs, all calls but the last of a chunk must
// have a multiple of kPairBlock pairs.
void pair_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                PairState& state);

// The definition, one pair at a time, for the same calls. The oracle of the tests; slow.
void pair_reference(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                    PairState& state);

// What is not defined (no pairs, the cosine of zeros, the max of complex numbers) has no value.
struct PairMetrics {
  uint64_t count = 0, equal = 0, over_tolerance = 0, reference_zero = 0;
  uint64_t nan_a = 0, nan_b = 0, nan_mismatch = 0, inf_mismatch = 0;
  std::optional<double> max_abs, max_rel, max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine;
  std::optional<double> std_a, std_b, mean_a, mean_b, max_a, max_b, min_a, min_b;
  std::optional<double> under_1e3, under_5e3, p50_abs, p99_abs;
  std::optional<uint64_t> max_ulp, worst;
};

[[nodiscard]] PairMetrics finish(const PairState& state);

}  // namespace msdump::kernels
