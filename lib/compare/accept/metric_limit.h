// A limit on a metric, as it is typed: `cosine>=0.9999`, `max_ulp <= 4`. Relations are >= > <= <; blanks do not count.
//
// What limits do to a verdict:
//   1. a pair that breaks one differs, whatever else holds; NaN on one side and other shapes or dtypes stay what they are
//   2. a pair that keeps all of them is close, when the user has given no rtol or atol: limits stand in place of the
//      default tolerance. With rtol or atol both have to hold
//   3. a metric that is not defined (the cosine of zeros, ULP of two dtypes) breaks no limit where the tensors are equal,
//      and breaks it where they are not: what cannot be judged does not pass
//   4. what was not compared element by element is not judged; its verdict stands
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

// usage, with the nearest name for an unknown metric.
Result<MetricLimit> parse_metric_limit(std::string_view text);
[[nodiscard]] std::string text_of(const MetricLimit& limit);  // "cosine>=0.9999"

enum class LimitCheck : uint8_t { kHolds, kBroken, kUndefined };  // undefined: not broken (rules 3 and 4)
[[nodiscard]] LimitCheck check_limit(const MetricLimit& limit, const TensorDiff& diff);

// Is one of them on kl, which diff_tensors makes only when it is asked to?
[[nodiscard]] bool needs_kl(std::span<const MetricLimit> limits);

// Rules 1 and 2; `reason` gets each limit that is broken, with the value. `tolerance` is what `diff` was made with.
void judge_by_limits(std::span<const MetricLimit> limits, const Tolerance& tolerance, TensorDiff& diff);

}  // namespace msdump
