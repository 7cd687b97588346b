// The metrics of diff, in the order of the output. Columns, `--list-metrics` and limits (metric_limit.h) derive from this
// table. The formulas are those of kernels/pair/pair.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compare/pair/tensor_diff.h"
#include "report/value.h"

namespace msdump {

using MetricNumber = std::variant<uint64_t, double>;

enum class MetricUnit : uint8_t {
  kPairs,     // a number of pairs
  kElements,  // a number of elements of one side
  kValue,     // in the unit of the tensors' elements
  kRatio,     // without a unit
  kUlp,       // representable values of the dtype
};
[[nodiscard]] std::string_view name_of(MetricUnit unit);  // "pairs", "elements", "value", "ratio", "ulp"

struct Metric {
  std::string_view name;
  MetricUnit unit;
  std::string_view formula;  // one line; d = |a - b|
  // Nothing where the metric is not defined or no elements were compared (has_metrics).
  std::optional<MetricNumber> (*value)(const TensorDiff& diff);
};

[[nodiscard]] std::span<const Metric> all_metrics();
[[nodiscard]] const Metric* find_metric(std::string_view name);
// For did-you-mean.
[[nodiscard]] std::vector<std::string> metric_names();

// As reports print it: an integer, a float, null.
[[nodiscard]] report::Value metric_value(const Metric& metric, const TensorDiff& diff);
// All metrics by name: `metrics` of a row.
[[nodiscard]] report::Object metric_values(const TensorDiff& diff);

}  // namespace msdump
