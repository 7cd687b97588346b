#include "compare/pair/tensor_diff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/containers.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "kernels/pair/pair.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

constexpr int64_t kPieces = 16, kPiece = 1024;
constexpr double kGap = 100, kTight = 4;
constexpr size_t kOneIn = 20;
constexpr size_t kFewest = kPiece;         // kept elements of a sample that is trusted
constexpr size_t kMost = size_t{1} << 22;  // kept elements: the squares of more would overflow

// Counts magnitudes by their exponent. Two that are a factor of 100 apart have different exponents, so nothing needs to be
// sorted. Only doubles below 2e-308 share one exponent. Squares of one exponent add up without rounding, in any order.
class Magnitudes {
 public:
  Magnitudes() : exponents_(kExponents) {}

  void add(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value) & ~(uint64_t{1} << 63);
    const uint64_t exponent = bits >> kFractionBits;
    if (bits == 0 || exponent == kExponents) return;
    Magnitude& same = exponents_[exponent];
    ++same.count;
    ++count_;
    same.least = std::min(same.least, bits);
    same.largest = std::max(same.largest, bits);
    const uint64_t fraction = bits & (kHidden - 1);
    const uint64_t digits = exponent == 0 ? fraction : fraction | kHidden;
    same.squares += Wide{digits} * digits;
  }

  [[nodiscard]] size_t count() const { return count_; }

  [[nodiscard]] double scale() const {
    const auto is_used = [](const Magnitude& magnitude) { return magnitude.count > 0; };
    const auto last = std::find_if(exponents_.rbegin(), exponents_.rend(), is_used);
    if (last == exponents_.rend()) return 0;
    size_t count = 0;
    const double largest = std::bit_cast<double>(last->largest);
    const Magnitude* below = nullptr;
    for (const Magnitude& next : exponents_) {
      if (!is_used(next)) continue;
      const auto least = std::bit_cast<double>(next.least);
      const bool gap = below != nullptr && least > kGap * std::bit_cast<double>(below->largest);
      if (gap && count >= std::max<size_t>(count_ / kOneIn, 1) && largest <= kTight * least) break;
      count += next.count;
      below = &next;
    }
    return root_of_mean(static_cast<size_t>(below - exponents_.data()), count);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  using Double = std::numeric_limits<double>;
  static constexpr int kFractionBits = Double::digits - 1, kExponents = 2 * Double::max_exponent - 1;
  static constexpr uint64_t kHidden = uint64_t{1} << kFractionBits;
  struct Magnitude {
    size_t count = 0;
    uint64_t least = UINT64_MAX, largest = 0;  // as bits, which sort as the doubles do
    Wide squares = 0;                          // of whole numbers of less than 2^53
  };

  // The root mean square of magnitudes up to the exponent `last`. It is computed in units of the last digit of `last`, so
  // that no square leaves the range of a double.
  [[nodiscard]] double root_of_mean(size_t last, size_t count) const {
    const auto unit = [](size_t exponent) { return static_cast<int>(std::max<size_t>(exponent, 1)); };
    double squares = 0;
    for (size_t exponent = 0; exponent <= last; ++exponent) {
      const Wide sum = exponents_[exponent].squares;
      if (sum != 0) squares += std::ldexp(static_cast<double>(sum), 2 * (unit(exponent) - unit(last)));
    }
    return std::ldexp(std::sqrt(squares / static_cast<double>(count)),
                      unit(last) + Double::min_exponent - 1 - Double::digits);
  }

  std::vector<Magnitude> exponents_;
  size_t count_ = 0;
};

}  // namespace

Result<double> typical_scale(HostTensor& tensor, const CancelToken& cancel) {
  const DType part = part_of(tensor.dtype());
  const int64_t parts = part == tensor.dtype() ? 1 : 2;
  if (kernels::common_dtype(part, DType::kFloat64) != DType::kFloat64) return 0.0;
  std::vector<double> wide;
  const auto add = [&](std::span<const std::byte> elements, int64_t count, Magnitudes& magnitudes) {
    wide.resize(static_cast<size_t>(count * parts));
    kernels::widen_to(part, DType::kFloat64, elements.data(), count * parts, reinterpret_cast<std::byte*>(wide.data()));
    for (const double value : wide) magnitudes.add(value);
  };
  Magnitudes magnitudes;
  const SampleSize sample = tensor.direct() ? SampleSize{kPieces, kPiece} : SampleSize{1, kPieces * kPiece};
  MSDUMP_CHECK_OK(
      for_each_piece(tensor, sample, [&](auto elements, int64_t count) { add(elements, count, magnitudes); }));
  if (magnitudes.count() < kFewest && tensor.count() > kPieces * kPiece) {
    Magnitudes all;
    MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](auto elements, int64_t count) {
      if (all.count() < kMost) add(elements, count, all);
      return all.count() < kMost;
    }));
    magnitudes = std::move(all);
  }
  return magnitudes.scale() * (parts == 2 ? std::sqrt(2.0) : 1.0);
}

double scale_of_sample(const std::vector<double>& sample) {
  Magnitudes magnitudes;
  for (const double value : sample) magnitudes.add(value);
  return magnitudes.scale();
}

namespace {

Verdict verdict_of(const kernels::PairMetrics& metrics) {
  if (metrics.nan_mismatch + metrics.inf_mismatch > 0) return Verdict::kNan;
  if (metrics.equal == metrics.count) return Verdict::kSame;
  return metrics.over_tolerance == 0 ? Verdict::kClose : Verdict::kDiffer;
}

// Checks shapes, then dtypes. False if there is nothing to compare; `diff` then has the verdict and its reason.
bool can_compare(const HostTensor& a, const HostTensor& b, const PairOptions& options, TensorDiff& diff) {
  if (a.shape() != b.shape()) {
    const std::string shapes = fmt::format("{} against {}", describe(a.shape()), describe(b.shape()));
    if (without_ones(a.shape()) == without_ones(b.shape())) {
      diff.reason = "dimensions of 1 ignored: " + shapes;
    } else if (options.any_shape && a.count() == b.count()) {
      diff.reason = "dumped in the shape of what wrote it: " + shapes;
    } else {
      diff.verdict = Verdict::kShape;
      diff.reason = shapes;
      return false;
    }
    diff.reshaped = true;
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

constexpr int64_t kChunk = 32 * kPairSlab;  // work of one thread; the states are merged in order

Result<kernels::PairState> compare_chunk(HostTensor& a, HostTensor& b, int64_t first, const kernels::PairRule& rule,
                                         const CancelToken& cancel) {
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b, first, std::min(kChunk, a.count() - first)));
  kernels::PairState state;
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    kernels::pair_block(reader.dtype(), slab.a, slab.b, slab.count, rule, state);
  }));
  return state;
}

Result<kernels::PairState> compare_chunks(HostTensor& a, HostTensor& b, const kernels::PairRule& rule,
                                          const CancelToken& cancel, WorkerPool* pool) {
  const int64_t chunks = (a.count() + kChunk - 1) / kChunk;
  Result<kernels::PairState> whole = compare_chunk(a, b, 0, rule, cancel);
  const auto merge = [&](Result<kernels::PairState>&& chunk) {
    if (!whole) return;
    if (chunk) {
      whole->merge(*chunk);
    } else {
      whole = std::move(chunk);
    }
  };
  const auto compare = [&](int64_t chunk) { return compare_chunk(a, b, chunk * kChunk, rule, cancel); };
  if (pool == nullptr || !a.direct() || !b.direct()) {
    for (int64_t chunk = 1; chunk < chunks && whole; ++chunk) merge(compare(chunk));
    return whole;
  }
  pool->ordered_for(
      chunks - 1, [&](int64_t index) { return compare(index + 1); },
      [&](int64_t, Result<kernels::PairState>&& chunk) { merge(std::move(chunk)); }, kMostTried);
  return whole;
}

Status compare_elements(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel,
                        const PairOptions& options, TensorDiff& diff) {
  MSDUMP_TRY(diff.scale, typical_scale(b, cancel));
  diff.limits = limits_for(tolerance, diff.dtype_a, diff.dtype_b, diff.scale);
  kernels::PairRule rule;
  rule.ulp = a.dtype() == b.dtype() && diff.dtype_a == diff.dtype_b;
  rule.scale = diff.scale;
  rule.rtol = diff.limits.rtol;
  rule.atol = diff.limits.atol;
  MSDUMP_TRY(const kernels::PairState state, compare_chunks(a, b, rule, cancel, options.pool));
  const kernels::PairMetrics metrics = kernels::finish(state);
  diff.metrics = metrics;
  diff.verdict = verdict_of(metrics);
  return {};
}

Result<std::optional<double>> divergence_of(HostTensor& a, HostTensor& b, const TensorDiff& diff,
                                            const CancelToken& cancel) {
  const kernels::PairMetrics metrics = diff.metrics;
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  if (metrics.count == 0 || !kernels::can_kl(reader.dtype())) return std::nullopt;
  if (diff.verdict == Verdict::kSame) return 0.0;
  const kernels::KlRange range{*metrics.max_a, *metrics.min_a, *metrics.max_b, *metrics.min_b};
  kernels::KlState state;
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    kernels::kl_block(reader.dtype(), slab.a, slab.b, slab.count, range, state);
  }));
  return kernels::finish(state);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  static constexpr auto kNames = enum_table<Verdict, std::string_view>("same", "close", "differ", "nan", "shape",
                                                                       "dtype", "unmatched", "empty", "skipped");
  return kNames[verdict];
}

namespace {

// True for a number of more than four decimal digits, rounding to float32 apart: few results share one by chance.
bool has_many_digits(double value) {
  if (!std::isfinite(value) || value == 0) return false;
  const double digits = std::fabs(value) * kFourDigits / std::pow(10, std::ceil(std::log10(std::fabs(value))));
  return std::fabs(digits - std::round(digits)) > 4 * kFourDigits * unit_roundoff(DType::kFloat32);
}

}  // namespace

bool are_telling(const std::optional<double>& max, const std::optional<double>& min, std::optional<int64_t> elements) {
  const auto& known = max ? max : min;
  if (max && max == min) return elements == 1 && has_many_digits(*max);
  return known && ((max && min) || *known != std::round(*known));
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
                                const PairOptions& options) {
  TensorDiff diff;
  diff.shape = a.shape();
  diff.dtype_a = a.original_dtype();
  diff.dtype_b = b.original_dtype();
  if (!can_compare(a, b, options, diff)) return diff;
  MSDUMP_CHECK_OK(compare_elements(a, b, tolerance, cancel, options, diff));
  if (options.on_request) {
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
