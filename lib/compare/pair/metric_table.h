// The metrics of diff, in the order of the output. Columns, `--list-metrics` and limits (accept/diff_rules.h) derive from
// this table. The formulas are those of kernels/pair/pair.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/compact.h"
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
  // No value if the metric is not defined, or no elements were compared (has_metrics).
  // `metrics` are those of `diff`, unpacked once for all.
  std::optional<MetricNumber> (*value)(const TensorDiff& diff, const kernels::PairMetrics& metrics);
  bool on_request = false;  // takes a second pass over tensors that differ: PairOptions::on_request
};

[[nodiscard]] std::span<const Metric> all_metrics();
[[nodiscard]] const Metric* find_metric(std::string_view name);
// Candidates for did_you_mean().
[[nodiscard]] std::vector<std::string> metric_names();

// The value for a report: an integer, a float, null.
[[nodiscard]] report::Value metric_value(const Metric& metric, const TensorDiff& diff);
[[nodiscard]] report::Value value_of(const std::optional<MetricNumber>& number);

// Adds all metrics by name, `metrics` of a row, to an Object or a JsonObject.
template <class Into>
void add_metrics(const TensorDiff& diff, Into& into) {
  into.reserve(all_metrics().size());
  const kernels::PairMetrics metrics = diff.metrics;
  for (const Metric& metric : all_metrics()) into.add(metric.name, value_of(metric.value(diff, metrics)));
}

// The facts of a comparison for a part of a run (parts/facts.h).

namespace kernels {

void fields(auto& visit, FieldsOf<PairMetrics> auto& value) { visit_members(visit, value); }

}  // namespace kernels

// Compact and shared values are written as the plain ones that they stand for.
template <class T>
void fields(auto& visit, const CompactOptional<T>& value) {
  visit(std::optional<T>(value));
}
template <class T>
void fields(auto& visit, CompactOptional<T>& value) {
  std::optional<T> plain;
  visit(plain);
  value = plain;
}
template <class T>
void fields(auto& visit, const Shared<T>& value) {
  visit(*value);
}
template <class T>
void fields(auto& visit, Shared<T>& value) {
  T plain;
  visit(plain);
  value = std::move(plain);
}

void fields(auto& visit, FieldsOf<Limits> auto& value) { MSDUMP_FIELDS(rtol, atol); }
void fields(auto& visit, FieldsOf<PairHashes> auto& value) {
  MSDUMP_FIELDS(checksum_a, checksum_b, written_a, written_b);
}
void fields(auto& visit, FieldsOf<TensorDiff> auto& value) {
  MSDUMP_FIELDS(verdict, dtype_a, dtype_b, by_statistics, reshaped, mislabelled, nan_counted_a, nan_counted_b,
                nan_in_a_alone, no_such_place, without_rule, extremes_only, reason, metrics, kl, scale, limits, shape,
                hashes, relative_error, least_error);
}

}  // namespace msdump
