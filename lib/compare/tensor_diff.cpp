#include "compare/tensor_diff.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "compare/pair_reader.h"
#include "kernels/pair_dtype.h"
#include "kernels/pair_kl.h"

namespace msdump {
namespace {

enum class Kind : uint8_t { kFloat, kInteger, kBool, kComplex, kRaw };

Kind kind_of(DType dtype) {
  if (!kernels::can_pair(dtype)) return Kind::kRaw;
  if (dtype == DType::kBool) return Kind::kBool;
  const std::string_view name = msdump::name_of(dtype);
  if (name.find("complex") != std::string_view::npos) return Kind::kComplex;
  return name.find("float") != std::string_view::npos ? Kind::kFloat : Kind::kInteger;
}

Shape without_ones(const Shape& shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](int64_t dim) { return dim != 1; });
  return result;
}

// Of two legs; not std::hypot, whose last digit is the C library's.
double length(double x, double y) {
  const double longer = std::max(std::abs(x), std::abs(y)), shorter = std::min(std::abs(x), std::abs(y));
  if (longer == 0) return 0;
  return longer * std::sqrt(1 + (shorter / longer) * (shorter / longer));
}

// The root of the mean square of the first slab of b: good enough for a scale, and read anyway. Complex numbers are taken
// as their parts.
double scale_of(DType dtype, const std::byte* b, int64_t count) {
  if (dtype == DType::kComplex32) return std::sqrt(2.0) * scale_of(DType::kFloat16, b, 2 * count);
  if (dtype == DType::kComplex64) return std::sqrt(2.0) * scale_of(DType::kFloat32, b, 2 * count);
  if (dtype == DType::kComplex128) return std::sqrt(2.0) * scale_of(DType::kFloat64, b, 2 * count);
  kernels::PairState state;
  kernels::PairRule rule;
  rule.ulp = rule.quantiles = false;
  kernels::pair_block(dtype, b, b, count, rule, state);
  const kernels::PairMetrics metrics = kernels::finish(state);
  const double scale = length(metrics.mean_b.value_or(0), metrics.std_b.value_or(0));
  return std::isfinite(scale) ? scale : 0;
}

Verdict verdict_of(const kernels::PairMetrics& metrics) {
  if (metrics.nan_mismatch + metrics.inf_mismatch > 0) return Verdict::kNan;
  if (metrics.equal == metrics.count) return Verdict::kSame;
  return metrics.over_tolerance == 0 ? Verdict::kClose : Verdict::kDiffer;
}

// Shapes, then dtypes; false with the verdict and its reason.
bool can_compare(const HostTensor& a, const HostTensor& b, TensorDiff& diff) {
  if (a.shape() != b.shape()) {
    if (without_ones(a.shape()) != without_ones(b.shape())) {
      diff.verdict = Verdict::kShape;
      diff.reason = fmt::format("{} against {}", describe(a.shape()), describe(b.shape()));
      return false;
    }
    diff.reason = fmt::format("dimensions of 1 ignored: {} against {}", describe(a.shape()), describe(b.shape()));
  }
  const auto common = kernels::common_dtype(a.dtype(), b.dtype());
  if (!common || kind_of(a.dtype()) != kind_of(b.dtype())) {
    diff.verdict = common ? Verdict::kDtype : Verdict::kSkipped;
    diff.reason = fmt::format("{} against {}", msdump::name_of(diff.dtype_a), msdump::name_of(diff.dtype_b));
    return false;
  }
  if (a.count() == 0) diff.verdict = Verdict::kEmpty;
  return a.count() > 0;
}

Status compare_elements(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel,
                        TensorDiff& diff) {
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  kernels::PairState state;
  kernels::PairRule rule;
  rule.ulp = a.dtype() == b.dtype() && diff.dtype_a == diff.dtype_b;
  for (;;) {
    MSDUMP_TRY(const std::optional<PairSlab> slab, reader.next(cancel));
    if (!slab) break;
    if (slab->first == 0) {
      rule.scale = scale_of(reader.dtype(), slab->b, slab->count);
      diff.limits = limits_for(tolerance, diff.dtype_a, diff.dtype_b, rule.scale);
      rule.rtol = diff.limits.rtol;
      rule.atol = diff.limits.atol;
    }
    kernels::pair_block(reader.dtype(), slab->a, slab->b, slab->count, rule, state);
  }
  diff.metrics = kernels::finish(state);
  diff.verdict = verdict_of(diff.metrics);
  diff.tolerance_that_passes = passing_limits(diff.metrics, rule.scale);
  return {};
}

Result<std::optional<double>> divergence_of(HostTensor& a, HostTensor& b, const TensorDiff& diff,
                                            const CancelToken& cancel) {
  const kernels::PairMetrics& metrics = diff.metrics;
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  if (metrics.count == 0 || !kernels::can_kl(reader.dtype())) return std::nullopt;
  if (diff.verdict == Verdict::kSame) return 0.0;
  const kernels::KlRange range{*metrics.max_a, *metrics.min_a, *metrics.max_b, *metrics.min_b};
  kernels::KlState state;
  for (;;) {
    MSDUMP_TRY(const std::optional<PairSlab> slab, reader.next(cancel));
    if (!slab) return kernels::finish(state);
    kernels::kl_block(reader.dtype(), slab->a, slab->b, slab->count, range, state);
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 9> kNames = {"same",  "close",     "differ", "nan",    "shape",
                                                             "dtype", "unmatched", "empty",  "skipped"};
  return kNames[static_cast<size_t>(verdict)];
}

bool is_difference(Verdict verdict) {
  return verdict == Verdict::kDiffer || verdict == Verdict::kNan || verdict == Verdict::kShape ||
         verdict == Verdict::kDtype || verdict == Verdict::kUnmatched;
}

bool has_metrics(Verdict verdict) {
  return verdict == Verdict::kSame || verdict == Verdict::kClose || verdict == Verdict::kDiffer ||
         verdict == Verdict::kNan || verdict == Verdict::kEmpty;
}

Result<TensorDiff> diff_tensors(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel,
                                const DiffOptions& options) {
  TensorDiff diff;
  diff.shape = a.shape();
  diff.dtype_a = a.original_dtype();
  diff.dtype_b = b.original_dtype();
  if (!can_compare(a, b, diff)) return diff;
  MSDUMP_CHECK_OK(compare_elements(a, b, tolerance, cancel, diff));
  if (options.kl) {
    MSDUMP_TRY(diff.kl, divergence_of(a, b, diff, cancel));
  }
  return diff;
}

std::vector<int64_t> index_of_element(uint64_t flat, const Shape& shape) {
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(shape[axis], 1));
    index[axis] = static_cast<int64_t>(flat % extent);
    flat /= extent;
  }
  return index;
}

}  // namespace msdump
