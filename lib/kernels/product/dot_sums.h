// Sums of products and of squares, as projections of large products need them (recompute/projection.h).
#pragma once

#include <cstdint>

namespace msdump::kernels {

struct DotSums {
  double products = 0, squares = 0;  // of a b; of a a
};
// Element i is added to sum i mod 8 of eight: the result is the same on every CPU.
[[nodiscard]] DotSums dot_sums(const double* a, const double* b, int64_t count);

}  // namespace msdump::kernels
