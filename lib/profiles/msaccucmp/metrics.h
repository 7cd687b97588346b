// The ten algorithms of msaccucmp's `compare`, from msdump's own metrics (kernels/pair/pair.h), in the tool's texts.
// E = 2^-52.
//
//   CosineSimilarity           1.000000 for "scalars": dimensions that are all 1, but also (2, 0). Norms <= E on both sides:
//                              1.0. sqrt(norm) <= E on one: NaN and a reason
//   MaxAbsoluteError           max_abs
//   AccumulatedRelativeError   sum of d / |b| over b != 0
//   RelativeEuclideanDistance  relative_l2; 0 if the norm of b is <= E
//   KullbackLeiblerDivergence  kl
//   StandardDeviation          "(mean;std),(mean;std)", 0 if below 0.001
//   MeanAbsoluteError          mean_abs            RootMeanSquareError   rmse
//   MaxRelativeError           the largest d / |b| over b != 0
//   MeanRelativeError          the accumulated error / elements
//
// Six decimals. "NaN" is what was not computed, with a reason. "nan" and "inf" are the result of a NaN or an infinity among
// the elements, in every algorithm that it takes part in. If both sides are bool and stay so, only the first and the fourth
// algorithm run; the fourth fails unless the reference has no true.
//
// The tool computes in float32. Its numbers differ by more than 1e-6 if values leave that range or 64-bit integers have more
// digits. So does |a / b - 1| of nearly equal values. Its metrics of complex numbers are those of their real parts.
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

  // True if the two limits of the tool's manual hold that do not depend on the scale of a tensor: cosine > 0.99 and
  // distance < 0.05. A cosine that was not computed is not within; a distance that was not computed is ignored.
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
