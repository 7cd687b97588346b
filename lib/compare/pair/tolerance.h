// Tolerance: two tensors are close if every pair of elements differs by at most atol + rtol |b| + rtol scale. The scale is
// that of the reference (tensor_diff.h). An element near 0 in a tensor of thousands may be off by more than rtol |b|.
//
// rtol is that of the coarser dtype of the two sides. It allows a few hundred roundings in another order, and is much less
// than the effect of a changed constant.
//
//   float64 1e-9   float32 1e-3   float16 5e-3   bfloat16 3e-2   fp8, float4 0.2   integers, bool 0
//
// The tolerance that would have passed has the same form: the smallest rtol for which atol = rtol scale lets every pair
// pass. That is the largest |a - b| / (|b| + scale).
//
// The same pass finds it. A pair costs a product and a comparison; a division follows only if a lane finds a larger
// quotient. Together that is 5 to 9 % of the pass over two tensors in cache that differ everywhere
// (tests/bench/bench_kernels.cpp).
#pragma once

#include <optional>

#include "kernels/pair/pair.h"
#include "tensor/dtype.h"

namespace msdump {

struct Tolerance {
  std::optional<double> rtol = {}, atol = {};  // the user's; then no term is added for the scale
  std::optional<DType> coarsest = {};  // of a side that computes in it throughout (precision.h): applies to all floats
};

struct Limits {
  double rtol = 0, atol = 0;  // as kernels take them: |a - b| <= atol + rtol |b|
};

[[nodiscard]] double default_rtol(DType dtype);
// The distance of neighbouring numbers around 0, for dtypes so coarse that tensors reach it; 0 for other dtypes.
[[nodiscard]] double smallest_step(DType dtype);
// `scale` is that of the reference.
[[nodiscard]] Limits limits_for(const Tolerance& tolerance, DType a, DType b, double scale);

// The smallest limits that pass, rounded up to three digits, so that they pass when typed. `metrics` were computed with this
// scale. With a scale of 0, or a pair that no rtol lets pass, only atol is set.
//
// No value if no tolerance helps: NaN or an infinity on one side only, no pairs, a difference beyond the range of a double.
[[nodiscard]] std::optional<Limits> passing_limits(const kernels::PairMetrics& metrics, double scale);

// `value`, or the next larger number with so many decimal digits. `value` must not be negative.
[[nodiscard]] double rounded_up(double value, int digits = 3);

}  // namespace msdump
