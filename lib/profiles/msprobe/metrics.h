// msprobe's metrics of two tensors: Cosine, EucDist, MaxAbsErr, MaxRelativeErr, One and Five Thousandth(s) Err Ratio.
//
//   1. dimensions of 1 are dropped first: (1,16) is (16,), and (1,) has no dimension
//   2. the first of these that holds: the target is empty, or a file cannot be read: all "unsupported"; the shapes differ:
//      all "shape unmatched"; without a dimension only the two maxima; NaN or infinities at different places: all "N/A";
//      at the same places they count as zeros (the sign of an infinity is ignored)
//   3. RE = |(a - b) / b| in float32, in float64 if one side is float64 or no float; where b is 0 both get eps more
//   4. everything else in float64, of complex numbers the real part: Cosine a.b / (|a||b|), "unsupported" for one
//      element, 1.0 for two zero vectors, "Nan" for one; above 0.9999 to 6 decimals; EucDist |a - b| with all digits
//   5. without a dimension a - b is numpy's of the stored dtypes: integers wrap, float16 rounds
//   6. all but EucDist are rounded to 12 decimals
// Memory is a few MiB for tensors of any size. `numpy1` (which goes with pandas 2): for 3, numpy before 2 looks at the
// value of a float64 without dimension to decide whether float32 is enough.
// Not done: the cut of dirty tails (npu_grouped_matmul, npu_dequant_swiglu_quant) and calibration factors of 2026.
// Source: reference/compare-and-check.md 2.3, reference/verified-on-real-msprobe.md 5; msprobe 26.2.0, numpy 1.26 and
// 2.4.
#pragma once

#include <array>
#include <string>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_python.h"

namespace msdump {

using MsprobeMetrics = std::array<PythonValue, 6>;

[[nodiscard]] MsprobeMetrics same_metrics(std::string_view text);

// The metrics of two .npy or .pt files; an error when one of them cannot be read (msprobe: all "unsupported").
Result<MsprobeMetrics> msprobe_metrics(const std::string& target, const std::string& golden, bool numpy1);

}  // namespace msdump
