// The ten algorithms of msaccucmp's `compare`, with its arithmetic and its faults. Both tensors become float32
// (float32_reader.h); sums are numpy's (numpy_sum.h), in float32 but where it says otherwise. E = 2^-52.
//
//   CosineSimilarity           1.000000 for "scalars": dimensions that are all 1, but also (2, 0). Norms <= E on both sides:
//                              1.0. sqrt(norm) <= E on one: NaN and a reason. Else sum((a / |a|) (b / |b|)), at most 1
//   MaxAbsoluteError           max |a - b|
//   AccumulatedRelativeError   sum r with r = |a / b - 1| where |b| > E, else 0
//   RelativeEuclideanDistance  0 where |b| <= E; else sqrt(sum (a - b)^2 / sum b^2)
//   KullbackLeiblerDivergence  both sides (x - min) / (max - min) unless that is 0, at least 2^-23, divided by the sum: p, q;
//                              sum p ln(p / q), 0 if below E
//   StandardDeviation          "(mean;std),(mean;std)" in float64, 0 if below 0.001
//   MeanAbsoluteError          mean |a - b|        RootMeanSquareError   sqrt(mean (a - b)^2)
//   MaxRelativeError           max r               MeanRelativeError     mean r over all elements
//
// Six decimals. NaN and infinities are printed; "NaN" is also printed for what was not computed, with a reason. Where both
// sides are bool and stay so, only the first and the fourth algorithm run; the fourth fails unless the reference has no
// true.
//
// Three passes over the files: sums and extremes; cosine, deviations and the divisors of p and q; the divergence.
// Memory: slabs (float32_reader.h). Logarithms are correctly rounded, numpy's are sometimes a unit off: the last decimal of
// a divergence may differ.
// Source: reference/compare-and-check.md 3; msprobe 26.2.0 (msaccucmp) with numpy 1.24, read and run.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"

namespace msdump {

// In the order of the columns.
inline constexpr std::array<std::string_view, 10> kMsaccucmpAlgorithms = {
    "CosineSimilarity",          "MaxAbsoluteError",  "AccumulatedRelativeError", "RelativeEuclideanDistance",
    "KullbackLeiblerDivergence", "StandardDeviation", "MeanAbsoluteError",        "RootMeanSquareError",
    "MaxRelativeError",          "MeanRelativeError"};
inline constexpr std::string_view kMsaccucmpNaN = "NaN";

struct MsaccucmpMetrics {
  std::array<std::string, 10> values;
  std::vector<std::string> reasons;  // CompareFailReason, to be joined by commas

  // Within the two limits of the tool's manual that do not depend on the scale of a tensor: cosine > 0.99, distance < 0.05.
  // A cosine that was not computed is not within; a distance that was not computed is ignored.
  [[nodiscard]] bool within_limits() const;
};
[[nodiscard]] MsaccucmpMetrics no_msaccucmp_metrics(std::string reason);

struct MsaccucmpPair {
  HostTensor &a, &b;           // with equally many elements
  std::string path_a, path_b;  // for reasons
  bool scalar = false;         // is_msaccucmp_scalar of the tool's shape
  bool keeps_bool = false;     // two bool tensors stay bool
};

[[nodiscard]] bool is_msaccucmp_scalar(const Shape& shape);

// An error when one of the tensors cannot be read.
Result<MsaccucmpMetrics> msaccucmp_metrics(const MsaccucmpPair& pair, const CancelToken& cancel);

}  // namespace msdump
