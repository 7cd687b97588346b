// Numbers and sentences shared by msaccucmp's algorithms.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "profiles/msaccucmp/metrics.h"

namespace msdump {

namespace msaccucmp {

// The order of kMsaccucmpAlgorithms.
enum Algorithm : size_t {
  kCosine,
  kMaxAbs,
  kAccumulated,
  kDistance,
  kDivergence,
  kDeviation,
  kMeanAbs,
  kRmse,
  kMaxRel,
  kMeanRel
};

}  // namespace msaccucmp

// A norm or a divergence up to this is 0.
inline constexpr double kMsaccucmpEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr std::string_view kScalarReason = "This tensor is scalar.";

// As Python formats it: NaN has no sign.
[[nodiscard]] std::string msaccucmp_number(double value, int decimals = 6);
[[nodiscard]] std::string all_zero_in(std::string_view path);

// For two bool tensors that stay bool: numpy computes their norms and their cosine in float64.
Result<MsaccucmpMetrics> msaccucmp_bool_metrics(const MsaccucmpPair& pair, const CancelToken& cancel);

}  // namespace msdump
