// Numbers and sentences that several of msaccucmp's algorithms print.
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

// Below it a norm or a divergence is nothing.
inline constexpr double kMsaccucmpEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr std::string_view kScalarReason = "This tensor is scalar.";

// As Python formats it: no NaN has a sign.
[[nodiscard]] std::string msaccucmp_number(double value, int decimals = 6);
[[nodiscard]] std::string all_zero_in(std::string_view path);

// Of two bool tensors that stay so: numpy takes their norms and their cosine in float64.
Result<MsaccucmpMetrics> msaccucmp_bool_metrics(const MsaccucmpPair& pair, const CancelToken& cancel);

}  // namespace msdump
