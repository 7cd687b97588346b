// When two tensors are close: every pair of elements differs by no more than atol + rtol |b| + rtol scale, where the scale is
// that of the whole tensor (typical_scale.h), so that an element near 0 in a tensor of thousands is no error.
//
// rtol is that of the coarser dtype of the two sides: what a few hundred roundings in another order leave, and a good deal
// less than what a changed constant does.
//
//   float64 1e-9   float32 1e-3   float16 5e-3   bfloat16 3e-2   fp8, float4 0.2   integers, bool 0
//
// The tolerance that would have passed has that form too, whatever was asked for: the smallest rtol for which
// atol = rtol scale lets every pair pass, which is the largest |a - b| / (|b| + scale). It is found in the same pass: in
// vectors it costs a product and a comparison a pair, and a division only where a lane finds a larger one, 5 to 9 % of
// the pass over two tensors in cache that differ everywhere (tests/bench/bench_kernels.cpp).
#pragma once

#include <optional>

#include "kernels/pair/pair.h"
#include "tensor/dtype.h"

namespace msdump {

struct Tolerance {
  std::optional<double> rtol = {}, atol = {};  // given by the user; then nothing is added for the scale
  std::optional<DType> coarsest = {};  // of a side that computes in it throughout (precision.h): counts for all floats
};

struct Limits {
  double rtol = 0, atol = 0;  // of the kernel: |a - b| <= atol + rtol |b|
};

[[nodiscard]] double default_rtol(DType dtype);
// Between the numbers around 0 of a dtype whose smallest one is one that tensors do hold; 0 for the others.
[[nodiscard]] double smallest_step(DType dtype);
// `scale` of the reference.
[[nodiscard]] Limits limits_for(const Tolerance& tolerance, DType a, DType b, double scale);

// What would have passed, rounded up to three digits, so that it still does when it is typed: from metrics that were made
// with this scale. With a scale of 0, or a pair that no rtol lets pass, atol alone. Nothing when no tolerance helps: NaN
// or an infinity on one side only, no pairs, a difference that is no double.
[[nodiscard]] std::optional<Limits> passing_limits(const kernels::PairMetrics& metrics, double scale);

// `value`, or the next number above it that has so many decimal digits. For 0 and above.
[[nodiscard]] double rounded_up(double value, int digits);

}  // namespace msdump
