#include "compare/tensor_diff.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "kernels/pair_dtype.h"

namespace msdump {
namespace {

constexpr int64_t kSlab = int64_t{1} << 17;  // elements; a multiple of kernels::kPairBlock
static_assert(kSlab % kernels::kPairBlock == 0);

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

// One side, slab by slab, in the common dtype.
class Reader {
 public:
  Reader(HostTensor& tensor, DType common) : tensor_(tensor), common_(common) {
    stored_.resize(static_cast<size_t>(kSlab) * tensor.element_bytes());
    if (tensor.dtype() != common)
      widened_.resize(static_cast<size_t>(kSlab) * (static_cast<size_t>(info(common).bits) / 8));
  }

  Result<const std::byte*> read(int64_t first, int64_t count) {
    MSDUMP_CHECK_OK(tensor_.read(first, count, stored_.data()));
    if (widened_.empty()) return stored_.data();
    kernels::widen_to(tensor_.dtype(), common_, stored_.data(), count, widened_.data());
    return widened_.data();
  }

 private:
  HostTensor& tensor_;
  const DType common_;
  std::vector<std::byte> stored_, widened_;
};

// The root of the mean square of the first slab of b: good enough for a scale, and read anyway.
double scale_of(DType common, const std::byte* b, int64_t count) {
  kernels::PairState state;
  kernels::PairRule rule;
  rule.ulp = rule.quantiles = false;
  kernels::pair_block(common, b, b, count, rule, state);
  const kernels::PairMetrics metrics = kernels::finish(state);
  const double mean = metrics.mean_b.value_or(0), deviation = metrics.std_b.value_or(0);
  const double scale = std::hypot(mean, deviation);
  return std::isfinite(scale) ? scale : 0;
}

Verdict verdict_of(const kernels::PairMetrics& metrics, int64_t count) {
  if (metrics.nan_mismatch + metrics.inf_mismatch > 0) return Verdict::kNan;
  if (metrics.equal == metrics.count) return count == 0 ? Verdict::kEmpty : Verdict::kSame;
  return metrics.over_tolerance == 0 ? Verdict::kClose : Verdict::kDiffer;
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

Result<TensorDiff> diff_tensors(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel) {
  TensorDiff diff;
  diff.shape = a.shape();
  diff.dtype_a = a.original_dtype();
  diff.dtype_b = b.original_dtype();
  if (a.shape() != b.shape()) {
    if (without_ones(a.shape()) != without_ones(b.shape())) {
      diff.verdict = Verdict::kShape;
      diff.reason = fmt::format("{} against {}", describe(a.shape()), describe(b.shape()));
      return diff;
    }
    diff.reason = fmt::format("dimensions of 1 ignored: {} against {}", describe(a.shape()), describe(b.shape()));
  }
  const auto common = kernels::common_dtype(a.dtype(), b.dtype());
  if (!common || kind_of(a.dtype()) != kind_of(b.dtype())) {
    diff.verdict = common ? Verdict::kDtype : Verdict::kSkipped;
    diff.reason = fmt::format("{} against {}", msdump::name_of(diff.dtype_a), msdump::name_of(diff.dtype_b));
    return diff;
  }
  if (a.count() == 0) {
    diff.verdict = Verdict::kEmpty;
    return diff;
  }
  kernels::PairState state;
  kernels::PairRule rule;
  rule.ulp = a.dtype() == b.dtype() && diff.dtype_a == diff.dtype_b;
  Reader left(a, *common), right(b, *common);
  for (int64_t first = 0; first < a.count(); first += kSlab) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kSlab, a.count() - first);
    MSDUMP_TRY(const std::byte* const from_a, left.read(first, count));
    MSDUMP_TRY(const std::byte* const from_b, right.read(first, count));
    if (first == 0) {
      diff.limits = limits_for(tolerance, diff.dtype_a, diff.dtype_b, scale_of(*common, from_b, count));
      rule.rtol = diff.limits.rtol;
      rule.atol = diff.limits.atol;
    }
    kernels::pair_block(*common, from_a, from_b, count, rule, state);
  }
  MSDUMP_CHECK_OK(a.check_unchanged());
  MSDUMP_CHECK_OK(b.check_unchanged());
  diff.metrics = kernels::finish(state);
  diff.verdict = verdict_of(diff.metrics, a.count());
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
