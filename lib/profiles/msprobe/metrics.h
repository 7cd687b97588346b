// msprobe's metrics of two tensors, from msdump's own (kernels/pair/pair.h), in the texts of its result file: Cosine, EucDist,
// MaxAbsErr, MaxRelativeErr, One and Five Thousandth(s) Err Ratio.
//
//   1. dimensions of 1 are dropped first: (1,16) is (16,), and (1,) has no dimension
//   2. the first of these that holds: the target is empty, or a file cannot be read: all "unsupported"; the shapes differ:
//      all "shape unmatched"; without a dimension only the two maxima; NaN or infinities at different places: all "N/A".
//      Equal ones count as zeros
//   3. MaxRelativeErr divides |a - b| by |b|, or by eps if b is 0: that of float32, of float64 if one side is float64 or no float
//   4. Cosine is 1.0 for two zero vectors, "Nan" for one; above 0.9999 it has 6 decimals. All but EucDist have at most 12
// msprobe's numbers differ by more than 1e-6 if float32 overflows, or if integers without a dimension wrap. They also do for 64-bit
// integers with more digits than float64, and for complex numbers, of which msprobe takes the real parts.
//
// Statistics have a difference and a percentage for each of the four, as texts:
//   equal as texts        "0" and "0"
//   numbers               a - b and |(a - b) / b * 100| with "%"; "inf" in its place if b is 0
//   with a NaN            "Nan"; with infinities "inf" or "-inf"; N/A stays "N/A"; other texts "Diff"
// Not done: the cut of dirty tails (npu_grouped_matmul, npu_dequant_swiglu_quant) and calibration factors of 2026.
#pragma once

#include <array>
#include <string>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_python.h"
#include "io/run_context.h"

namespace msdump {

using MsprobeMetrics = std::array<PythonValue, 6>;

[[nodiscard]] MsprobeMetrics same_metrics(std::string_view text);

// The metrics of two .npy or .pt files; an error when one of them cannot be read (msprobe: all "unsupported").
Result<MsprobeMetrics> msprobe_metrics(const std::string& target, const std::string& golden, const CancelToken& cancel);

struct StatisticDifference {
  std::string difference, relative;
};

[[nodiscard]] StatisticDifference msprobe_difference(const PythonValue& a, const PythonValue& b);

}  // namespace msdump
