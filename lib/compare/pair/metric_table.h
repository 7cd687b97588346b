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
#include "parts/facts.h"
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

// The lists of what a comparison of two tensors finds, for a part of a run (parts/fact_codec.h).

namespace kernels {

void fields(auto& visit, FieldsOf<PairMetrics> auto& value) {
  MSDUMP_FIELDS(count, equal, over_tolerance, reference_zero, nan_a, nan_b, nan_mismatch, inf_mismatch, max_abs,
                max_rel, max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine, std_a, std_b, mean_a,
                mean_b, max_a, max_b, min_a, min_b, under_1e3, under_5e3, p50_abs, p99_abs, max_ulp, worst);
}

}  // namespace kernels

void fields(auto& visit, FieldsOf<Limits> auto& value) { MSDUMP_FIELDS(rtol, atol); }
void fields(auto& visit, FieldsOf<TensorDiff> auto& value) {
  MSDUMP_FIELDS(verdict, reason, metrics, kl, scale, limits, tolerance_that_passes, shape, dtype_a, dtype_b,
                by_statistics, reshaped, mislabelled, nan_counted_a, nan_counted_b, nan_in_a_alone, checksum_b,
                relative_error, no_such_place, extremes_only);
}

}  // namespace msdump
