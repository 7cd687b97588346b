#include "recompute/outliers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace msdump::recompute {
namespace {

// docs/blame-measured.md has what other numbers lead to.
constexpr double kTimes = 3;
constexpr uint32_t kLeastSimilar = 4;

// A number of each of several similar operators, such as an error over what rounding leads to: the largest of its outputs.
class SimilarNumbers {
 public:
  void add(OperatorId op, double number) {
    double& largest = numbers_[op];
    largest = std::max(largest, number);
  }
  void find_largest() {
    for (const auto& [op, number] : numbers_) {
      second_ = std::max(second_, std::min(number, largest_));
      largest_ = std::max(largest_, number);
    }
  }
  [[nodiscard]] uint32_t others() const { return static_cast<uint32_t>(numbers_.size()) - 1; }
  [[nodiscard]] double largest_but(OperatorId op) const { return numbers_.at(op) == largest_ ? second_ : largest_; }

 private:
  std::map<OperatorId, double> numbers_;
  double largest_ = 0, second_ = 0;
};

// The outputs of a dump, compared by what rounding leads to in one precision.
class ErrorsOf {
 public:
  void add(std::string_view type, OperatorId op, const Judgement& output, double error) {
    of_type_[{type, output.format}].add(op, error);
    of_format_[output.format].add(op, error);
  }
  void find_largest() {
    for (auto& [key, similar] : of_type_) similar.find_largest();
    for (auto& [key, similar] : of_format_) similar.find_largest();
  }
  [[nodiscard]] std::optional<Outlier> compare(std::string_view type, OperatorId op, const Judgement& output,
                                               double error) const {
    const SimilarNumbers* similar = &of_type_.at({type, output.format});
    const bool has_type = similar->others() >= kLeastSimilar;
    // The rounding of a coarse output outweighs what operators of different types do before.
    if (!has_type && is_low(output.format)) similar = &of_format_.at(output.format);
    const double usual = similar->largest_but(op);
    if (similar->others() < kLeastSimilar || error <= kTimes * usual) return std::nullopt;
    return Outlier{error, error / usual, similar->others(), has_type};
  }

 private:
  std::map<std::pair<std::string_view, DType>, SimilarNumbers> of_type_;
  std::map<DType, SimilarNumbers> of_format_;
};

// The roundoffs of the formats of the outputs, by type.
class Formats {
 public:
  void add(std::string_view type, OperatorId op, const Judgement& output) {
    of_type_[type].add(op, unit_roundoff(output.fits_bfloat16 ? DType::kBfloat16 : output.format));
  }
  void find_largest() {
    for (auto& [type, similar] : of_type_) similar.find_largest();
  }
  // None of few values, or of what is left of terms that cancel: these may fit a coarser format by chance.
  [[nodiscard]] std::optional<Outlier> compare(std::string_view type, OperatorId op, const Judgement& output) const {
    const double rounding = output.rounding_of[0], roundoff = unit_roundoff(output.format);
    if (!output.coarser || rounding == 0 || rounding > kTimes * roundoff) return std::nullopt;
    const SimilarNumbers& similar = of_type_.at(type);
    const double usual = similar.largest_but(op);
    if (similar.others() < kLeastSimilar || roundoff <= usual || output.relative_error < usual) return std::nullopt;
    return Outlier{output.relative_error, roundoff / usual, similar.others(), true, output.format};
  }

 private:
  std::map<std::string_view, SimilarNumbers> of_type_;
};

double error_of(const Judgement& output, size_t precision) {
  const double rounding = output.rounding_of[precision];
  return rounding > 0 ? output.relative_error / rounding : 0;
}

// Calls take(type, operator, output) for the outputs that are right and rounded: an exact one does not show how exact others are.
void for_each_right(const std::vector<OperatorJudgement>& judgements, const OperatorOf& op_of, const auto& take) {
  for (const OperatorJudgement& judgement : judgements) {
    for (const OutputJudgement& output : judgement.outputs) {
      const Judgement& of = output.judgement;
      if (of.is_right() && of.relative_error > 0) take(judgement.type, op_of(judgement.run), output);
    }
  }
}

}  // namespace

std::map<TensorId, Outlier> find_outliers(const std::vector<OperatorJudgement>& judgements, const OperatorOf& op_of) {
  std::array<ErrorsOf, kPrecisions> errors;
  Formats formats;
  for_each_right(judgements, op_of, [&](std::string_view type, OperatorId op, const OutputJudgement& output) {
    formats.add(type, op, output.judgement);
    for (size_t p = 0; p < kPrecisions; ++p) {
      if (output.judgement.rounding_of[p] > 0) errors[p].add(type, op, output.judgement, error_of(output.judgement, p));
    }
  });
  for (ErrorsOf& of : errors) of.find_largest();
  formats.find_largest();
  std::map<TensorId, Outlier> outliers;
  for_each_right(judgements, op_of, [&](std::string_view type, OperatorId op, const OutputJudgement& output) {
    const Judgement& of = output.judgement;
    if (const auto outlier = formats.compare(type, op, of)) outliers[output.tensor] = *outlier;
    if (of.relative_error < unit_roundoff(of.format)) return;
    // The device may compute in any precision that can apply.
    std::optional<Outlier> least;
    for (size_t p = 0; p < kPrecisions; ++p) {
      if (of.rounding_of[p] == 0) continue;
      const auto outlier = errors[p].compare(type, op, of, error_of(of, p));
      if (!outlier) return;
      if (!least || outlier->times < least->times) least = outlier;
    }
    if (least) outliers[output.tensor] = {error_of(of, 0), least->times, least->similar, least->of_type};
  });
  return outliers;
}

bool shares(const Outlier& outlier, const Judgement& other) {
  if (outlier.format != DType::kUndefined) return unit_roundoff(other.format) >= unit_roundoff(outlier.format);
  return other.rounding_of[0] == 0 || outlier.error <= kTimes * error_of(other, 0);
}

}  // namespace msdump::recompute
