// The Kullback-Leibler divergence of two tensors, as msaccucmp defines it but in double precision. A second pass: it
// needs the extremes of both sides, which the first one has found (pair.h).
//
//     1. each side becomes (x - min) / (max - min); one whose values are all alike stays as it is
//     2. floor at 1.1920929e-7 (2^-23), so that no logarithm is infinite
//     3. divide by the sum: two probability distributions p, of a, and q, of b
//     4. sum of p ln(p / q); below 2.2e-16 it is 0
//
// Over the pairs where both sides are finite. Not defined for complex numbers. The logarithm is our own: that of the C
// library differs in the last digit from one CPU to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/reduce/wide_sum.h"
#include "tensor/dtype.h"

namespace msdump::kernels {

struct KlRange {
  double max_a = 0, min_a = 0, max_b = 0, min_b = 0;
};

struct KlState {
  WideSum p, q, p_log_ratio;  // before the division by the sums
  uint64_t finite = 0;

  void merge(const KlState& next);

  bool operator==(const KlState&) const = default;
};

[[nodiscard]] bool can_kl(DType dtype);

// The next pairs of a chunk; elements as for pair_block.
void kl_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const KlRange& range, KlState& state);

// No value without pairs.
[[nodiscard]] std::optional<double> finish(const KlState& state);

// ln x of a positive, finite x within 1e-15 relative, the same bits everywhere.
[[nodiscard]] double natural_log(double x);

}  // namespace msdump::kernels
