#include "check/ranks/reduction_check.h"

#include <algorithm>
#include <cmath>

#include "check/ranks/rank_values.h"
#include "tensor/dtype_kind.h"

namespace msdump::check {
namespace {

constexpr int64_t kReducedSlab = int64_t{1} << 16;
constexpr double kMostExact = 0x1p53;  // integers beyond this are not judged
constexpr double kExplained = 1e-6;    // share of the square of a difference that may stay unexplained
constexpr int64_t kElementsExplained = int64_t{1} << 14;

// The reduction of one slab.
struct ReducedSlab {
  std::vector<double> value, magnitude;  // magnitude: what errors are relative to
};

void start(ReducedSlab& slab, Reduction reduction, int64_t count) {
  const double neutral = reduction == Reduction::kMax       ? -HUGE_VAL
                         : reduction == Reduction::kMin     ? HUGE_VAL
                         : reduction == Reduction::kProduct ? 1
                                                            : 0;
  slab.value.assign(static_cast<size_t>(count), neutral);
  slab.magnitude.assign(static_cast<size_t>(count), reduction == Reduction::kProduct ? 1 : 0);
}

void add(ReducedSlab& slab, Reduction reduction, std::span<const double> source) {
  for (size_t i = 0; i < source.size(); ++i) {
    const double one = source[i], size = std::abs(one);
    switch (reduction) {
      case Reduction::kMax: slab.value[i] = std::isnan(one) ? one : std::max(slab.value[i], one); break;
      case Reduction::kMin: slab.value[i] = std::isnan(one) ? one : std::min(slab.value[i], one); break;
      case Reduction::kProduct:
        slab.value[i] *= one;
        slab.magnitude[i] *= std::max(size, 1.0);
        continue;
      default: slab.value[i] += one; break;
    }
    slab.magnitude[i] += size;
  }
}

class ElementJudge {
 public:
  explicit ElementJudge(const ReductionOf& of)
      : of_(of),
        rounding_(rounding_of(of.dtype)),
        largest_(rounding_ ? largest_of(of.dtype).value_or(HUGE_VAL) : kMostExact),
        smallest_(of.dtype == DType::kFloat16 ? 0x1p-14 : 0x1p-126),
        terms_(static_cast<double>(of.sources.size())) {}

  void judge(double value, double magnitude, double out, int64_t index, ReductionFit& fit) const {
    const bool extreme = of_.reduction == Reduction::kMax || of_.reduction == Reduction::kMin;
    if (of_.reduction == Reduction::kMean) {
      value /= terms_;
      magnitude /= terms_;
    }
    if (std::isnan(value) && (extreme || std::isnan(out))) return;
    if (std::isfinite(magnitude) && magnitude >= largest_ * (1 - rounding_.value_or(0))) return;
    if (value == out || (of_.reduction == Reduction::kMean && !rounding_)) return;
    // What is left of an infinity or NaN does not depend on roundings.
    const double error = std::isfinite(value) && std::isfinite(out) ? std::abs(out - value) : HUGE_VAL;
    const double allowed = extreme ? 0 : (terms_ + 1) * rounding_.value_or(0) * magnitude + smallest_;
    if (error <= allowed) return;
    ++fit.beyond;
    const double ratio = allowed > 0 ? error / allowed : HUGE_VAL;
    if (fit.beyond > 1 && ratio <= fit.worst) return;
    fit.worst = ratio;
    fit.max_error = error;
    fit.at_sum = value;
    fit.at = out;
    fit.index = index;
  }

 private:
  const ReductionOf& of_;
  const std::optional<double> rounding_;
  const double largest_, smallest_, terms_;  // smallest: devices may treat subnormal numbers as 0
};

bool can_judge(const ReductionOf& of) {
  if (of.reduction == Reduction::kOther || of.sources.empty()) return false;
  return rounding_of(of.dtype) || kind_of(of.dtype) == DTypeKind::kInteger;
}

}  // namespace

Result<std::vector<ReductionFit>> check_reduction(const CheckedDump& dump, const ReductionOf& of,
                                                  std::span<const ReducedPart> parts, const CancelToken& cancel) {
  if (!can_judge(of)) return fail(make_error(ErrorCode::kUnsupportedDtype, "no reduction of {}", name_of(of.dtype)));
  std::vector<ReductionFit> fits(parts.size());
  const ElementJudge judge(of);
  ReducedSlab slab;
  std::vector<double> numbers;
  for (int64_t at = 0; at < of.count; at += kReducedSlab) {
    const int64_t count = std::min(kReducedSlab, of.count - at);
    start(slab, of.reduction, count);
    numbers.resize(static_cast<size_t>(count));
    for (const uint32_t source : of.sources) {
      MSDUMP_CHECK_OK(cancel.check());
      MSDUMP_CHECK_OK(read_numbers(dump, source, at, numbers));
      add(slab, of.reduction, numbers);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t begin = std::max(at, parts[i].first);
      const int64_t end = std::min(at + count, parts[i].first + parts[i].count);
      if (begin >= end) continue;
      const std::span<double> out = std::span(numbers).first(static_cast<size_t>(end - begin));
      MSDUMP_CHECK_OK(read_numbers(dump, parts[i].tensor, begin - parts[i].first, out));
      for (int64_t k = begin; k < end; ++k) {
        const auto in_slab = static_cast<size_t>(k - at);
        judge.judge(slab.value[in_slab], slab.magnitude[in_slab], out[static_cast<size_t>(k - begin)],
                    k - parts[i].first, fits[i]);
      }
    }
  }
  return fits;
}

Result<std::optional<WrongSum>> explain_sum(const CheckedDump& dump, const ReductionOf& of, const ReducedPart& part) {
  const auto count = static_cast<size_t>(std::min(kElementsExplained, part.count));
  std::vector<double> sum(count, 0), out(count), one(count);
  MSDUMP_CHECK_OK(read_numbers(dump, part.tensor, 0, out));
  for (const uint32_t source : of.sources) {
    MSDUMP_CHECK_OK(read_numbers(dump, source, part.first, one));
    for (size_t i = 0; i < count; ++i) sum[i] += one[i];
  }
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double result = 0;
    for (size_t i = 0; i < count; ++i) result += a[i] * b[i];
    return result;
  };
  const double noise = 4 * std::pow(rounding_of(of.dtype).value_or(0), 2) * dot(out, out);
  // The multiple of `base` that is nearest to `target`, if it leaves nothing.
  const auto multiple = [&](const std::vector<double>& target, const std::vector<double>& base) {
    const double square = dot(base, base), whole = dot(target, target);
    if (!(square > 0) || !(whole > 0)) return std::optional<double>();
    const double times = dot(target, base) / square;
    double rest = 0;
    for (size_t i = 0; i < count; ++i) rest += (target[i] - times * base[i]) * (target[i] - times * base[i]);
    return rest <= kExplained * whole + noise ? std::optional(times) : std::optional<double>();
  };
  if (const auto times = multiple(out, sum)) return std::optional(WrongSum{std::nullopt, *times});
  std::vector<double> difference(count);
  for (size_t i = 0; i < count; ++i) difference[i] = out[i] - sum[i];
  std::optional<WrongSum> found;
  for (size_t i = 0; i < of.sources.size(); ++i) {
    MSDUMP_CHECK_OK(read_numbers(dump, of.sources[i], part.first, one));
    const auto times = multiple(difference, one);
    if (!times) continue;
    if (found) return std::optional<WrongSum>();  // two would do
    found = WrongSum{i, 1 + *times};
  }
  return found;
}

}  // namespace msdump::check
