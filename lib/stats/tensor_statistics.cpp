#include "stats/tensor_statistics.h"

#include <cfloat>
#include <cmath>
#include <limits>

namespace msdump::stats {
namespace {

// Arithmetic whose NaNs are the same on every host: of two NaNs the left one counts, and a new one has the sign of the
// host that the statistics are made for.
class Arithmetic {
 public:
  explicit Arithmetic(HostArch arch)
      : fresh_nan_(std::copysign(std::numeric_limits<double>::quiet_NaN(), arch == HostArch::kX86 ? -1.0 : 1.0)) {}
  [[nodiscard]] double add(double a, double b) const { return settle(a, b, a + b); }
  [[nodiscard]] double subtract(double a, double b) const { return settle(a, b, a - b); }
  [[nodiscard]] double multiply(double a, double b) const { return settle(a, b, a * b); }
  [[nodiscard]] double divide(double a, double b) const { return settle(a, b, a / b); }
  [[nodiscard]] double root(double a) const { return settle(a, a, std::sqrt(a)); }

 private:
  [[nodiscard]] double settle(double a, double b, double result) const {
    if (!std::isnan(result)) return result;
    if (std::isnan(a)) return a;
    return std::isnan(b) ? b : fresh_nan_;
  }
  double fresh_nan_;
};

void add_counts(const kernels::ChunkStatistics& chunk, TensorStatistics& into) {
  into.count += chunk.count;
  into.negative += chunk.negative;
  into.positive += chunk.positive;
  into.zero += chunk.zero;
  into.nan += chunk.nan;
  into.negative_inf += chunk.negative_inf;
  into.positive_inf += chunk.positive_inf;
}

// std::max and std::min of MindSpore's code: with a NaN on the left the NaN stays, one on the right is lost.
double larger(double a, double b) { return a < b ? b : a; }
double smaller(double a, double b) { return b < a ? b : a; }

void merge_extremes(const Dialect& dialect, std::span<const kernels::ChunkStatistics> chunks, TensorStatistics& into) {
  const bool finite_start = dialect.rule != Rule::kC;
  into.max = finite_start ? -DBL_MAX : -HUGE_VAL;
  into.min = finite_start ? DBL_MAX : HUGE_VAL;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const bool take_nan = dialect.nan_survives_merge;
    into.max = take_nan && std::isnan(chunk.max) ? chunk.max : larger(into.max, chunk.max);
    into.min = take_nan && std::isnan(chunk.min) ? chunk.min : smaller(into.min, chunk.min);
  }
}

// The quotient of two unsigned integers, 1 for the first chunk and 0 for all others, is meant to be a fraction: up to
// 2.3.1 the mean of many chunks is that of the first.
double merged_running_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double mean = 0;
  uint64_t total = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    total += chunk.count;
    const auto quotient = static_cast<double>(total == 0 ? 0 : chunk.count / total);
    mean = math.add(mean, math.multiply(math.subtract(chunk.sum, mean), quotient));
  }
  return mean;
}

double merged_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double total = 0;
  uint64_t count = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const auto elements = static_cast<double>(chunk.count);
    const double part = math.multiply(math.divide(chunk.sum, elements), elements);
    total = std::isnan(part) ? part : math.add(total, part);  // of several NaN the last
    count += chunk.count;
  }
  return math.divide(total, static_cast<double>(count));
}

// Neumaier's sum: the error of each addition is kept and added at the end.
double compensated_mean(const Arithmetic& math, std::span<const kernels::ChunkStatistics> chunks) {
  double sum = 0, lost = 0;
  uint64_t count = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) {
    const double next = math.add(sum, chunk.sum);
    if (std::isfinite(next)) {
      lost += std::abs(sum) >= std::abs(chunk.sum) ? (sum - next) + chunk.sum : (chunk.sum - next) + sum;
    }
    sum = next;
    count += chunk.entered;
  }
  return math.divide(std::isfinite(sum) ? sum + lost : sum, static_cast<double>(count));
}

}  // namespace

Wanted wanted_for(std::span<const StatisticColumn> columns) {
  using enum StatisticColumn;
  Wanted wanted;
  for (const StatisticColumn column : columns) {
    switch (column) {
      case kMax:
      case kMin: wanted.extremes = true; break;
      case kAvg: wanted.sum = true; break;
      case kL2Norm: wanted.squares = true; break;
      case kMd5: wanted.md5 = true; break;
      case kSha1: wanted.sha1 = true; break;
      case kCount: break;  // always kept
      default: wanted.counts = true; break;
    }
  }
  return wanted;
}

kernels::ReduceRule reduce_rule(const Dialect& dialect, HostArch arch, const Wanted& wanted) {
  kernels::ReduceRule rule;
  rule.finite_only = dialect.rule == Rule::kA;
  rule.running_mean = rule.finite_start = dialect.rule != Rule::kC;
  rule.negative_default_nan = arch == HostArch::kX86;
  rule.sum = wanted.sum;
  rule.squares = wanted.squares;
  rule.extremes = wanted.extremes;
  // Printing "null" for max, min and avg requires knowing whether anything is finite.
  rule.counts = wanted.counts || (dialect.rule == Rule::kA && (wanted.sum || wanted.extremes));
  return rule;
}

void merge_chunks(const MergeRule& rule, std::span<const kernels::ChunkStatistics> chunks, bool merged,
                  TensorStatistics& into) {
  const Dialect& dialect = rule.dialect;
  const Arithmetic math(rule.arch);
  for (const kernels::ChunkStatistics& chunk : chunks) add_counts(chunk, into);
  const uint64_t without_value = into.nan + into.negative_inf + into.positive_inf;
  into.nothing_finite = dialect.rule == Rule::kA && into.count == without_value;
  double squares = 0;
  for (const kernels::ChunkStatistics& chunk : chunks) squares = math.add(squares, chunk.squares);
  into.l2norm = math.root(squares);
  if (!merged) {
    const kernels::ChunkStatistics& only = chunks.front();
    into.max = only.max;
    into.min = only.min;
    into.avg = dialect.rule == Rule::kC ? math.divide(only.sum, static_cast<double>(only.entered)) : only.sum;
    return;
  }
  merge_extremes(dialect, chunks, into);
  if (rule.honest) {
    into.avg = compensated_mean(math, chunks);
  } else {
    into.avg = dialect.rule == Rule::kC ? merged_mean(math, chunks) : merged_running_mean(math, chunks);
  }
}

double mean_of_chunks(HostArch arch, std::span<const kernels::ChunkStatistics> chunks) {
  return compensated_mean(Arithmetic(arch), chunks);
}

uint64_t analysed_count(const Dialect& dialect, DType dtype, uint64_t bytes, int64_t count) {
  // Types of less than a byte are analysed in their unpacked form, whose length is exact.
  const int bits = info(dtype).bits;
  if (!dialect.float_count || bits < 8) return static_cast<uint64_t>(count);
  return static_cast<uint64_t>(static_cast<float>(bytes) / static_cast<float>(bits / 8));
}

}  // namespace msdump::stats
