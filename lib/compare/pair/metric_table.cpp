#include "compare/pair/metric_table.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/containers.h"

namespace msdump {
namespace {

using kernels::PairMetrics;
using enum MetricUnit;

std::optional<MetricNumber> number(uint64_t value) { return value; }
std::optional<MetricNumber> number(std::optional<uint64_t> value) {
  return value ? std::optional<MetricNumber>(*value) : std::nullopt;
}
std::optional<MetricNumber> number(std::optional<double> value) {
  return value ? std::optional<MetricNumber>(*value) : std::nullopt;
}

// The getter of a member of PairMetrics. Counts have no value for tensors that are compared by statistics.
template <auto kMember>
std::optional<MetricNumber> get(const TensorDiff& diff, const PairMetrics& metrics) {
  if (!has_metrics(diff.verdict)) return std::nullopt;
  if constexpr (std::is_same_v<decltype(kMember), uint64_t PairMetrics::*>) {
    if (diff.by_statistics) return std::nullopt;
  }
  return number(metrics.*kMember);
}

std::optional<MetricNumber> get_nan_a(const TensorDiff& diff, const PairMetrics& metrics) {
  if (!has_metrics(diff.verdict)) return std::nullopt;
  return diff.by_statistics && !diff.nan_counted_a ? std::nullopt : number(metrics.nan_a);
}
std::optional<MetricNumber> get_nan_b(const TensorDiff& diff, const PairMetrics& metrics) {
  if (!has_metrics(diff.verdict)) return std::nullopt;
  return diff.by_statistics && !diff.nan_counted_b ? std::nullopt : number(metrics.nan_b);
}

std::optional<MetricNumber> get_kl(const TensorDiff& diff, const PairMetrics&) { return number(diff.kl); }

constexpr std::array kMetrics = {
    Metric{"count", kPairs, "pairs of which both sides are finite; all metrics but _a and _b are over these",
           get<&PairMetrics::count>},
    Metric{"equal", kPairs, "pairs with a = b; -0 = +0", get<&PairMetrics::equal>},
    Metric{"max_abs", kValue, "max d, with d = |a - b|", get<&PairMetrics::max_abs>},
    Metric{"max_rel", kRatio, "max d / |b|; inf if b = 0 and a != 0", get<&PairMetrics::max_rel>},
    Metric{"mean_abs", kValue, "sum d / count", get<&PairMetrics::mean_abs>},
    Metric{"mean_rel", kRatio, "mean of d / |b| over the pairs with b != 0", get<&PairMetrics::mean_rel>},
    Metric{"rmse", kValue, "sqrt(sum d^2 / count)", get<&PairMetrics::rmse>},
    Metric{"l2_distance", kValue, "sqrt(sum d^2)", get<&PairMetrics::l2_distance>},
    Metric{"relative_l2", kRatio, "sqrt(sum d^2 / sum b^2); 0 / 0 is 0", get<&PairMetrics::relative_l2>},
    Metric{"cosine", kRatio, "sum a b / sqrt(sum a^2 * sum b^2); none if one side is all 0", get<&PairMetrics::cosine>},
    Metric{"kl", kRatio, "sum p ln(p / q), p and q being a and b from 0 to 1 over their sums; a second pass", get_kl,
           true},
    Metric{"std_a", kValue, "standard deviation of a (of the population), over its finite values",
           get<&PairMetrics::std_a>},
    Metric{"std_b", kValue, "the same of b", get<&PairMetrics::std_b>},
    Metric{"mean_a", kValue, "mean of a, over its finite values", get<&PairMetrics::mean_a>},
    Metric{"mean_b", kValue, "the same of b", get<&PairMetrics::mean_b>},
    Metric{"max_a", kValue, "max a, over its finite values", get<&PairMetrics::max_a>},
    Metric{"max_b", kValue, "the same of b", get<&PairMetrics::max_b>},
    Metric{"min_a", kValue, "min a, over its finite values", get<&PairMetrics::min_a>},
    Metric{"min_b", kValue, "the same of b", get<&PairMetrics::min_b>},
    Metric{"under_1e3", kRatio, "share of pairs with d / |b| < 0.001; 0 / 0 is 0", get<&PairMetrics::under_1e3>},
    Metric{"under_5e3", kRatio, "share of pairs with d / |b| < 0.005; 0 / 0 is 0", get<&PairMetrics::under_5e3>},
    Metric{"over_tolerance", kPairs, "pairs with d > atol + rtol |b|", get<&PairMetrics::over_tolerance>},
    Metric{"max_ulp", kUlp, "max of the values of the dtype from a to b; none for bool and two dtypes",
           get<&PairMetrics::max_ulp>},
    Metric{"p50_abs", kValue, "the d that half of the pairs do not exceed, within 1 %", get<&PairMetrics::p50_abs>},
    Metric{"p99_abs", kValue, "the d that 99 % of the pairs do not exceed, within 1 %", get<&PairMetrics::p99_abs>},
    Metric{"nan_a", kElements, "NaN of a", get_nan_a},
    Metric{"nan_b", kElements, "NaN of b", get_nan_b},
    Metric{"nan_mismatch", kPairs, "pairs of which one side is NaN", get<&PairMetrics::nan_mismatch>},
    Metric{"inf_mismatch", kPairs, "pairs without NaN of which one side is infinite and the other something else",
           get<&PairMetrics::inf_mismatch>},
    Metric{"reference_zero", kPairs, "pairs with b = 0 and a != 0", get<&PairMetrics::reference_zero>},
};

}  // namespace

std::string_view name_of(MetricUnit unit) {
  static constexpr auto kNames = enum_table<MetricUnit, std::string_view>("pairs", "elements", "value", "ratio", "ulp");
  return kNames[unit];
}

std::span<const Metric> all_metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto* const found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [name](const Metric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : found;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  return names;
}

report::Value value_of(const std::optional<MetricNumber>& number) {
  if (!number) return {};
  return std::visit([](auto plain) { return report::Value(plain); }, *number);
}

report::Value metric_value(const Metric& metric, const TensorDiff& diff) {
  return value_of(metric.value(diff, diff.metrics));
}

}  // namespace msdump
