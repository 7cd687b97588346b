// A limit on a metric, as typed: `cosine>=0.9999`, `max_ulp <= 4`. Relations are >= > <= <; blanks are ignored.
//
// How limits change a verdict:
//   1. a pair that breaks a limit differs; the verdicts nan, shape and dtype stay
//   2. a pair that keeps all limits is close if the user gave neither rtol nor atol: limits replace the default
//      tolerance. With rtol or atol both have to hold
//   3. a metric that is not defined (the cosine of zeros, ULP of two dtypes) breaks a limit unless the tensors are equal:
//      what cannot be judged does not pass
//   4. pairs that were not compared element by element keep their verdict
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "compare/pair/metric_table.h"
#include "compare/pair/tensor_diff.h"

namespace msdump {

enum class MetricRelation : uint8_t { kAtLeast, kAbove, kAtMost, kBelow };

struct MetricLimit {
  const Metric* metric = nullptr;
  MetricRelation relation = MetricRelation::kAtLeast;
  double bound = 0;
};

// kUsage, with the nearest name for an unknown metric.
Result<MetricLimit> parse_metric_limit(std::string_view text);
[[nodiscard]] std::string text_of(const MetricLimit& limit);  // "cosine>=0.9999"

enum class LimitCheck : uint8_t { kHolds, kBroken, kUndefined };  // undefined: not broken (rules 3 and 4)
[[nodiscard]] LimitCheck check_limit(const MetricLimit& limit, const TensorDiff& diff);

// Is one of them on kl, which diff_tensors computes only on request?
[[nodiscard]] bool needs_kl(std::span<const MetricLimit> limits);

// Rules 1 and 2; each broken limit is added to `reason`, with the value. `tolerance` is the one that `diff` was made with.
void judge_by_limits(std::span<const MetricLimit> limits, const Tolerance& tolerance, TensorDiff& diff);

}  // namespace msdump
