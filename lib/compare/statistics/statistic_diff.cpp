#include "compare/statistics/statistic_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/statistics/computed_statistics.h"
#include "dump/elements/host_tensor.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

// Factor for max and min, by default; see the header.
constexpr double kExtremes = 3;

using Kind = DTypeKind;

bool is_known(const std::optional<Shape>& shape) {
  return shape && std::find(shape->begin(), shape->end(), kUnknownDim) == shape->end();
}

constexpr std::array<std::string_view, kExtrema> kNames = {"max", "min", "mean", "l2norm"};
bool is_extreme(size_t which) { return which < 2; }

// The class of a number: 0 for finite numbers, and one each for NaN, infinity and -infinity.
int class_of(double value) { return std::isnan(value) ? 3 : std::isfinite(value) ? 0 : std::signbit(value) ? 2 : 1; }

// The value of all elements, if it is known exactly and none is NaN.
std::optional<double> only_value(const TensorNumbers& values, Kind kind) {
  const auto &max = values.number(Extremum::kMax), &min = values.number(Extremum::kMin);
  if (!max || !min || max->slack != 0 || min->slack != 0 || max->value != min->value) return std::nullopt;
  if (!std::isfinite(max->value) || values.elements() == std::optional<int64_t>(0)) return std::nullopt;
  const bool has_no_nan = kind == Kind::kInteger || kind == Kind::kBool || values.is_finite() ||
                          values.elements() == std::optional<int64_t>(1);
  return kind == Kind::kComplex || !has_no_nan ? std::nullopt : std::optional(max->value);
}

// "equal MD5"
const std::string& text_of_equal(ChecksumKind kind) {
  static const auto kTexts = [] {
    std::array<std::string, static_cast<size_t>(last_of(ChecksumKind())) + 1> texts;
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = "equal " + std::string(name_of(static_cast<ChecksumKind>(i)));
    return texts;
  }();
  return kTexts[static_cast<size_t>(kind)];
}

enum class Agreement : uint8_t { kUnknown, kWeak, kEqual, kDifferent };

class Comparer {
 public:
  Comparer(const TensorNumbers& a, const TensorNumbers& b, const Tolerance& tolerance, bool any_shape)
      : a_(a), b_(b), any_shape_(any_shape), kind_(kind_of(a.dtype)), given_(tolerance.rtol || tolerance.atol) {
    diff_.by_statistics = true;
    diff_.dtype_a = a.dtype;
    diff_.dtype_b = b.dtype;
    if (a.shape) diff_.shape = *a.shape;
    const bool unknown = kind_ == Kind::kOther && kind_of(b.dtype) == Kind::kOther;
    scale_ = b.scale().value_or(0);
    diff_.limits = limits_for(tolerance, unknown ? DType::kFloat32 : a.dtype, b.dtype, scale_);
  }

  TensorDiff run() {
    if (shapes_differ() || dtypes_differ()) return std::move(diff_);
    fill_metrics();
    PairHashes hashes;
    for (auto [checksum, side] : {std::pair(&hashes.checksum_a, &a_), std::pair(&hashes.checksum_b, &b_)}) {
      if (!side->checksums.empty()) *checksum = std::hash<std::string>()(side->checksums.front().text);
    }
    diff_.hashes = hashes;
    if (a_.elements() == std::optional<int64_t>(0) && b_.elements() == std::optional<int64_t>(0)) {
      diff_.verdict = Verdict::kEmpty;
      return std::move(diff_);
    }
    for (size_t i = 0; i < kExtrema; ++i) compare_number(i);
    compare_counts();
    compared_ = compared_ || counted_;
    checksums_ = compare_checksums();
    decide();
    return std::move(diff_);
  }

 private:
  bool shapes_differ() {
    if (!is_known(a_.shape) || !is_known(b_.shape)) {
      const bool counts_differ = a_.elements() && b_.elements() && a_.elements() != b_.elements();
      if (counts_differ) settle(Verdict::kShape, fmt::format("{} elements against {}", *a_.elements(), *b_.elements()));
      return counts_differ;
    }
    if (*a_.shape == *b_.shape) return false;
    const bool differ = without_ones(*a_.shape) != without_ones(*b_.shape);
    std::string text = fmt::format("{} against {}", describe(*a_.shape), describe(*b_.shape));
    if (!differ) {
      diff_.reason = "dimensions of 1 ignored: " + text;
    } else if (any_shape_ && a_.elements() == b_.elements()) {
      diff_.reason = "dumped in the shape of what wrote it: " + text;
    } else {
      settle(Verdict::kShape, text);
      return true;
    }
    diff_.reshaped = true;
    return false;
  }

  bool dtypes_differ() {
    const Kind other = kind_of(b_.dtype);
    if (kind_ == other || kind_ == Kind::kOther || other == Kind::kOther) return false;
    settle(Verdict::kDtype, fmt::format("{} against {}", msdump::name_of(a_.dtype), msdump::name_of(b_.dtype)));
    return true;
  }

  // Sets the verdict, and appends to the reason.
  void settle(Verdict verdict, const Shared<std::string>& text) {
    diff_.verdict = verdict;
    diff_.reason = diff_.reason->empty() ? text : Shared<std::string>(*diff_.reason + "; " + *text);
  }

  void fill_metrics() {
    kernels::PairMetrics metrics;
    const auto fill = [&](const TensorNumbers& from, std::optional<double>& max, std::optional<double>& min,
                          std::optional<double>& mean, uint64_t& nan, bool& counted) {
      counted = from.nan.has_value();
      nan = from.nan.value_or(0);
      if (from.has(Special::kNan).value_or(false) || kind_ == Kind::kComplex) return;
      for (auto [into, which] :
           {std::pair(&max, Extremum::kMax), std::pair(&min, Extremum::kMin), std::pair(&mean, Extremum::kMean)}) {
        const auto& number = from.number(which);
        const bool partial = which == Extremum::kMean && from.mean_of_first_chunk;
        if (number && std::isfinite(number->value) && !partial) *into = number->value;
      }
    };
    fill(a_, metrics.max_a, metrics.min_a, metrics.mean_a, metrics.nan_a, diff_.nan_counted_a);
    fill(b_, metrics.max_b, metrics.min_b, metrics.mean_b, metrics.nan_b, diff_.nan_counted_b);
    diff_.metrics = metrics;
  }

  // True unless the dialects of the two sides mean different numbers.
  [[nodiscard]] bool is_comparable(size_t which, int class_a, int class_b) const {
    if (which == static_cast<size_t>(Extremum::kMean) && a_.mean_of_first_chunk != b_.mean_of_first_chunk) return false;
    if (class_a == class_b) return true;
    if ((a_.finite_only && class_a == 0) || (b_.finite_only && class_b == 0)) return false;
    return !(is_extreme(which) && a_.has(Special::kNan).value_or(false) && b_.has(Special::kNan).value_or(false));
  }

  [[nodiscard]] double limit_of(size_t which, double b) const {
    const Limits& limits = diff_.limits;
    const double magnitude = std::abs(b);
    switch (static_cast<Extremum>(which)) {
      case Extremum::kMean: return limits.atol + limits.rtol * scale_;
      case Extremum::kNorm: {
        const auto count = static_cast<double>(std::max<int64_t>(b_.elements().value_or(1), 1));
        return limits.rtol * magnitude + limits.atol * std::sqrt(count);
      }
      default: return (given_ ? 1 : kExtremes) * (limits.atol + limits.rtol * magnitude);
    }
  }

  void compare_number(size_t which) {
    const auto &a = a_.numbers[which], &b = b_.numbers[which];
    if (!a || !b) return;
    const int class_a = class_of(a->value), class_b = class_of(b->value);
    if (!is_comparable(which, class_a, class_b)) return;
    if (class_a != class_b) {
      found_nan(fmt::format("{} {:.6g} against {:.6g}", kNames[which], a->value, b->value));
    } else if (class_a != 0) {
      compared_ = compared_ || class_a != 3;
      has_special_ = true;
      diff_.extremes_only = diff_.extremes_only || !is_extreme(which);
    } else {
      const double denominator = which == static_cast<size_t>(Extremum::kMean) ? scale_
                                 : is_extreme(which)                           ? std::abs(b->value) + scale_
                                                                               : std::abs(b->value);
      const double relative = judge(kNames[which], *a, *b, limit_of(which, b->value), denominator);
      if (!is_extreme(which)) diff_.least_error = std::max(diff_.least_error, relative);
    }
  }

  // The relative error.
  double judge(std::string_view name, const StatisticNumber& a, const StatisticNumber& b, double limit,
               double denominator) {
    compared_ = true;
    const double distance = std::max(0.0, std::abs(a.value - b.value) - a.slack - b.slack);
    if (distance == 0) return 0;
    all_equal_ = false;
    const double relative = denominator > 0 ? distance / denominator : HUGE_VAL;
    error_ = std::max(error_, relative);
    const double excess = limit > 0 ? distance / limit : HUGE_VAL;
    if (excess <= worst_excess_) return relative;
    worst_excess_ = excess;
    if (excess > 1) worst_ = fmt::format("{} {:.6g} against {:.6g}", name, a.value, b.value);
    return relative;
  }

  void found_nan(std::string text) {
    if (nan_.empty()) nan_ = std::move(text);
  }

  void compare_special(std::string_view name, Special special, std::optional<uint64_t> TensorNumbers::*count) {
    const std::optional<uint64_t>&a = a_.*count, &b = b_.*count;
    if (a && b && *a != *b) return found_nan(fmt::format("{} count {} against {}", name, *a, *b));
    const auto there_a = a_.has(special), there_b = b_.has(special);
    if (there_a && there_b && *there_a != *there_b) found_nan(fmt::format("{} in {} only", name, *there_a ? 'a' : 'b'));
  }

  void compare_counts() {
    diff_.nan_in_a_alone = a_.has(Special::kNan).value_or(false) && !b_.has(Special::kNan).value_or(true);
    compare_special("NaN", Special::kNan, &TensorNumbers::nan);
    compare_special("inf", Special::kPositiveInf, &TensorNumbers::positive_inf);
    compare_special("-inf", Special::kNegativeInf, &TensorNumbers::negative_inf);
    using Count = std::optional<uint64_t> TensorNumbers::*;
    for (const auto& [name, count] : {std::pair<std::string_view, Count>("zero count", &TensorNumbers::zero),
                                      {"count below 0", &TensorNumbers::negative},
                                      {"count above 0", &TensorNumbers::positive}}) {
      const auto &a = a_.*count, &b = b_.*count;
      if (!a || !b) continue;
      counted_ = counted_ || *a + *b > 0;
      if (*a == *b) continue;
      all_equal_ = false;
      const auto is_exact = kind_ == Kind::kInteger || kind_ == Kind::kBool;
      if (!is_exact || given_) continue;
      const auto there = static_cast<double>(std::max<int64_t>(b_.elements().value_or(1), 1));
      (void)judge(name, {static_cast<double>(*a), 0}, {static_cast<double>(*b), 0}, 0, there);
    }
  }

  [[nodiscard]] Agreement compare_checksums() {
    Agreement result = Agreement::kUnknown;
    const bool same_bytes = a_.dtype == b_.dtype && a_.dtype != DType::kUndefined;
    for (const Checksum& one : a_.checksums) {
      const Checksum* other = same_bytes || !is_of_bytes(one.kind) ? b_.find(one.kind) : nullptr;
      if (other == nullptr || other->widened != one.widened) continue;
      checksum_ = one.kind;
      if (one.text != other->text) {
        if (!is_of_bytes(one.kind))
          hashes_ = fmt::format("hashes differ: {} against {}", excerpt(one.text), excerpt(other->text));
        return Agreement::kDifferent;
      }
      // Many tensors have an infinite norm.
      const auto& norm = a_.number(Extremum::kNorm);
      const bool infinite = !is_of_bytes(one.kind) && norm && !std::isfinite(norm->value);
      result = (infinite || is_weak(one.kind)) && result != Agreement::kEqual ? Agreement::kWeak : Agreement::kEqual;
    }
    return result;
  }

  // The value of all elements, if it is exactly known and equal on both sides.
  [[nodiscard]] std::optional<double> same_value() const {
    const auto a = only_value(a_, kind_), b = only_value(b_, kind_of(b_.dtype));
    return a && b && *a == *b ? a : std::nullopt;
  }

  void decide() {
    const bool differs = checksums_ == Agreement::kDifferent;
    const bool equals = checksums_ == Agreement::kEqual;
    if (!nan_.empty()) return settle(Verdict::kNan, with_checksums(nan_));
    diff_.scale = scale_;
    if (equals || error_ > 0 || (compared_ && agreement_means_something())) diff_.relative_error = error_;
    if (worst_excess_ > 1) return settle(Verdict::kDiffer, with_checksums(worst_));
    if (equals) return settle(Verdict::kSame, Shared<std::string>::of(text_of_equal(checksum_)));
    // Zeros may differ in sign, and then in their bytes.
    const auto value = same_value();
    if (value && (*value == 0 || !differs)) return settle(Verdict::kSame, fmt::format("every element is {}", *value));
    if (compared_) return settle(Verdict::kClose, with_checksums(agreement()));
    if (differs)
      return settle(Verdict::kDiffer,
                    hashes_.empty() ? std::string("checksums differ; by how much is not known") : hashes_);
    const std::string_view weak = checksum_ == ChecksumKind::kXor ? "xors" : "hashes";
    if (checksums_ == Agreement::kWeak)
      return settle(Verdict::kClose, fmt::format("equal {}, which other tensors may share", weak));
    settle(Verdict::kSkipped, has_special_ ? std::string("all statistics are NaN on both sides") : missing());
  }

  // True unless equal extremes prove nothing: infinities hide what the mean and the norm say, or the tensor is bool. Most
  // bool tensors have both true and false.
  [[nodiscard]] bool agreement_means_something() const {
    return counted_ || (kind_ == Kind::kBool ? same_value().has_value() : !diff_.extremes_only);
  }

  // Most pairs of a dump have this text, or that of an equal checksum.
  [[nodiscard]] Shared<std::string> agreement() const {
    static const std::string equal = "statistics agree", close = "statistics agree within the tolerance";
    return Shared<std::string>::of(all_equal_ ? equal : close);
  }

  [[nodiscard]] Shared<std::string> with_checksums(const Shared<std::string>& text) const {
    if (checksums_ == Agreement::kDifferent) return "checksums differ; " + *text;
    if (checksums_ == Agreement::kEqual) return text_of_equal(checksum_) + ", and yet " + *text;
    return text;
  }

  [[nodiscard]] static bool is_bare(const TensorNumbers& values) {
    return values.checksums.empty() &&
           std::none_of(values.numbers.begin(), values.numbers.end(), [](const auto& one) { return one.has_value(); });
  }

  [[nodiscard]] std::string missing() const {
    if (is_bare(a_) && is_bare(b_)) return "no statistics on either side";
    if (is_bare(a_) || is_bare(b_)) return fmt::format("no statistics of {}", is_bare(a_) ? "a" : "b");
    return "no statistic that both sides have";
  }

  const TensorNumbers &a_, &b_;
  const bool any_shape_;
  const Kind kind_;
  const bool given_;  // the tolerance is the user's
  double scale_ = 0;
  TensorDiff diff_;
  bool compared_ = false;     // something finite was compared
  bool has_special_ = false;  // the same NaN or infinity on both sides
  bool counted_ = false;      // counts of zeros or signs were compared
  bool all_equal_ = true;
  double error_ = 0, worst_excess_ = 0;
  std::string worst_, nan_, hashes_;
  Agreement checksums_ = Agreement::kUnknown;
  ChecksumKind checksum_ = ChecksumKind::kCrc32;  // the last that both sides have
};

}  // namespace

TensorDiff diff_statistics(const TensorNumbers& a, const TensorNumbers& b, const Tolerance& tolerance, bool any_shape) {
  return Comparer(a, b, tolerance, any_shape).run();
}

namespace {

bool has_elements(const TensorRecord& record) {
  return record.has_elements && (!record.broken || record.table == kNoId);
}

// Compares a side that has elements with one that has statistics only. `a_has`: a has the elements.
class MixedDiff {
 public:
  MixedDiff(const DumpSide& side, const TensorRecord& elements, const TensorNumbers& stored, bool a_has,
            const Tolerance& tolerance, const RunContext& context, bool any_shape)
      : side_(side),
        elements_(elements),
        stored_(stored),
        a_has_(a_has),
        any_shape_(any_shape),
        tolerance_(tolerance),
        context_(context) {}

  // If several versions may have written the other side, the first that agrees decides.
  Result<TensorDiff> run() {
    std::optional<TensorDiff> first;
    for (const stats::Dialect* dialect : dialects_of(stored_)) {
      MSDUMP_TRY(const TensorNumbers values, computed_values(side_.index, elements_, stored_, dialect, context_));
      TensorDiff diff = a_has_ ? diff_statistics(values, stored_, tolerance_, any_shape_)
                               : diff_statistics(stored_, values, tolerance_, any_shape_);
      if (!is_difference(diff.verdict)) return as_sampled(std::move(diff));
      if (!first) first = std::move(diff);
    }
    return as_sampled(std::move(*first));
  }

 private:
  // Tries a sampled dump, whose statistics are of the first elements. If they differ it was not sampled: the shapes differ.
  [[nodiscard]] TensorDiff as_sampled(TensorDiff diff) const {
    const auto sampled = sampled_elements(elements_, stored_);
    if (!sampled) return diff;
    if (!is_difference(diff.verdict)) {
      const std::string first = *sampled == 1 ? "element" : fmt::format("{} elements", *sampled);
      diff.reason = fmt::format("{}; of the first {} only: a sampled dump", *diff.reason, first);
      if (diff.verdict == Verdict::kSame) diff.verdict = Verdict::kClose;
      return diff;
    }
    const std::string own = describe(*elements_.shape), other = describe(*stored_.shape);
    TensorDiff shapes;
    shapes.verdict = Verdict::kShape;
    shapes.reason = fmt::format("{} against {}", a_has_ ? own : other, a_has_ ? other : own);
    shapes.shape = a_has_ ? *elements_.shape : *stored_.shape;
    shapes.dtype_a = diff.dtype_a;
    shapes.dtype_b = diff.dtype_b;
    shapes.by_statistics = true;
    return shapes;
  }

  const DumpSide& side_;
  const TensorRecord& elements_;
  const TensorNumbers& stored_;
  const bool a_has_, any_shape_;
  const Tolerance& tolerance_;
  const RunContext& context_;
};

}  // namespace

Result<TensorDiff> diff_records(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                                const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                                const PairOptions& options, std::optional<HostPair>* opened) {
  MSDUMP_CHECK_OK(context.cancel.check());
  if (has_elements(record_a) && has_elements(record_b)) {
    MSDUMP_TRY(HostPair pair, open_pair(a.index, record_a, b.index, record_b));
    PairOptions shared = options;
    shared.pool = &context.pool;
    auto diff = diff_tensors(pair.left, pair.right, tolerance, context.cancel, shared);
    if (opened != nullptr) opened->emplace(std::move(pair));
    return diff;
  }
  if (has_elements(record_a)) {
    MSDUMP_TRY(const TensorNumbers stored, b.tables.values_of(record_b));
    return MixedDiff(a, record_a, stored, true, tolerance, context, options.any_shape).run();
  }
  MSDUMP_TRY(const TensorNumbers stored, a.tables.values_of(record_a));
  if (has_elements(record_b)) return MixedDiff(b, record_b, stored, false, tolerance, context, options.any_shape).run();
  MSDUMP_TRY(const TensorNumbers other, b.tables.values_of(record_b));
  return diff_statistics(stored, other, tolerance, options.any_shape);
}

}  // namespace msdump
