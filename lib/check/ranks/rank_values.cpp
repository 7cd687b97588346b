#include "check/ranks/rank_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compare/pair/metric_table.h"
#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump::check {
namespace {

constexpr int64_t kNumbersSlab = int64_t{1} << 16;
constexpr uint64_t kFewElements = 4;

bool is_near(const std::optional<double>& a, const std::optional<double>& b, double scale) {
  return !a || !b || std::abs(*a - *b) <= 1e-3 * scale;
}

// Another order of additions explains an error of this many roundings of the typical element.
constexpr double kRoundings = 64;

}  // namespace

std::optional<bool> are_equal(const TensorFacts& a, const TensorFacts& b) {
  if (a.digest == 0 || b.digest == 0 || a.from != b.from || a.dtype != b.dtype || a.elements != b.elements)
    return std::nullopt;
  if (a.digest == b.digest) return true;
  if (a.digest_is_exact && b.digest_is_exact) return false;
  const double scale = a.l2norm && a.elements ? *a.l2norm / std::sqrt(static_cast<double>(*a.elements)) : 0;
  const bool same = a.max == b.max && a.min == b.min && is_near(a.mean, b.mean, scale) &&
                    is_near(a.l2norm, b.l2norm, a.l2norm.value_or(0));
  if (same) return std::nullopt;
  return false;
}

bool is_telling(const TensorFacts& facts) {
  if (!is_floating(facts.dtype) || facts.elements.value_or(0) < kFewElements || !facts.is_finite()) return false;
  if (!facts.min || !facts.max || *facts.min == *facts.max) return false;
  if (*facts.min != 0 && *facts.max != 0) return true;
  // Zeros and one other value c: the sum of squares is c times the sum.
  if (!facts.mean || !facts.l2norm) return false;
  const double other = *facts.min == 0 ? *facts.max : *facts.min;
  const double squares = *facts.l2norm * *facts.l2norm;
  const double sum = *facts.mean * static_cast<double>(*facts.elements);
  return std::abs(squares - other * sum) > 1e-4 * squares;
}

std::optional<double> rounding_of(DType dtype) {
  const bool wide = kind_of(dtype) == DTypeKind::kFloat && info(dtype).bits >= 16;
  return wide ? std::optional(unit_roundoff(dtype)) : std::nullopt;
}

Status read_numbers(const CheckedDump& dump, TensorId tensor, int64_t first, std::span<double> into) {
  MSDUMP_TRY(HostTensor host, HostTensor::open(dump.index(), dump.record(tensor), {}));
  const DTypeKind kind = kind_of(host.dtype());
  if (kind != DTypeKind::kFloat && kind != DTypeKind::kInteger)
    return fail(make_error(ErrorCode::kUnsupportedDtype, "{} has no numbers", name_of(host.dtype())));
  const auto count = static_cast<int64_t>(into.size());
  if (first < 0 || first > host.count() || count > host.count() - first)
    return fail(make_error(ErrorCode::kShapeMismatch, "{} elements, {} needed", host.count(), first + count));
  std::vector<std::byte> slab(static_cast<size_t>(std::min(kNumbersSlab, count)) * host.element_bytes());
  for (int64_t at = 0; at < count; at += kNumbersSlab) {
    const int64_t part = std::min(kNumbersSlab, count - at);
    MSDUMP_CHECK_OK(host.read(first + at, part, slab.data()));
    kernels::widen_to(host.dtype(), DType::kFloat64, slab.data(), part, reinterpret_cast<std::byte*>(into.data() + at));
  }
  return host.check_unchanged();
}

Result<kernels::PairMetrics> compare_elements(const CheckedDump& dump, TensorId a, TensorId b,
                                              const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor left, HostTensor::open(dump.index(), dump.record(a), {}));
  MSDUMP_TRY(HostTensor right, HostTensor::open(dump.index(), dump.record(b), {}));
  MSDUMP_TRY(const TensorDiff diff, diff_tensors(left, right, Tolerance(), cancel));
  if (!has_metrics(diff.verdict)) return fail(make_error(ErrorCode::kShapeMismatch, "{}", *diff.reason));
  return diff.metrics;
}

bool differ_by_rounding(const kernels::PairMetrics& metrics, const TensorFacts& facts) {
  const auto rounding = rounding_of(facts.dtype);
  const auto scale = facts.root_mean_square();
  if (!rounding || !scale || !metrics.max_abs || metrics.nan_mismatch + metrics.inf_mismatch > 0) return false;
  return *metrics.max_abs <= kRoundings * *rounding * *scale;
}

std::string ranks_text(std::vector<int64_t> ranks) {
  constexpr size_t kRangesShown = 8;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  size_t ranges = 0;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (ranges++ == kRangesShown) return text + ", ..";
    text += ranges == 1 ? "" : ", ";
    text += end - i == 1 ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace msdump::check
