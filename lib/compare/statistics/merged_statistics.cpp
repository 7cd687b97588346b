#include "compare/statistics/merged_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace msdump {
namespace {

struct Range {
  double low = 0, high = 0;

  [[nodiscard]] bool is_exact() const { return low == high; }
};

Range range_of(const StatisticNumber& number) { return {number.value - number.slack, number.value + number.slack}; }

StatisticNumber number_of(const Range& range, double factor) {
  // An infinity has no distance to itself.
  if (range.is_exact() || !std::isfinite(range.low) || !std::isfinite(range.high))
    return {(std::isfinite(range.low) ? range.high : range.low) * factor, 0};
  return {(range.low + range.high) / 2 * factor, (range.high - range.low) / 2 * factor};
}

bool has_nan(std::span<const Range> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Range& part) { return std::isnan(part.low); });
}

// Of the sum of tensors: the largest element is at least that of one plus the smallest ones of the others.
Range largest_of_sum(std::span<const Range> max, std::span<const Range> min) {
  Range sum{-HUGE_VAL, 0};
  double least = 0;
  for (const Range& one : min) least += one.low;
  for (size_t i = 0; i < max.size(); ++i) {
    sum.high += max[i].high;
    sum.low = std::max(sum.low, least - min[i].low + max[i].low);
  }
  return {std::min(sum.low, sum.high), sum.high};
}

// Triangle inequality.
Range norm_of_sum(std::span<const Range> norms) {
  Range sum;
  for (const Range& norm : norms) sum.high += norm.high;
  for (const Range& norm : norms) sum.low = std::max(sum.low, norm.low - (sum.high - norm.high));
  return sum;
}

// Of the largest of tensors, element by element: where one of them is smallest, the others are at most their largest.
Range smallest_of_maxima(std::span<const Range> max, std::span<const Range> min) {
  Range all{-HUGE_VAL, HUGE_VAL};
  double first = -HUGE_VAL, second = -HUGE_VAL;  // the two largest, so that the largest of the others is known
  for (const Range& one : max) {
    second = std::max(second, std::min(first, one.high));
    first = std::max(first, one.high);
  }
  for (size_t i = 0; i < min.size(); ++i) {
    all.low = std::max(all.low, min[i].low);
    all.high = std::min(all.high, std::max(min[i].high, max[i].high == first ? second : first));
  }
  return {all.low, std::max(all.low, all.high)};
}

Range largest_of(std::span<const Range> ranges) {
  Range all{-HUGE_VAL, -HUGE_VAL};
  for (const Range& one : ranges) all = {std::max(all.low, one.low), std::max(all.high, one.high)};
  return all;
}

// An element is at most the largest of the minima and what each tensor has there above its own minimum.
Range mean_of_maxima(std::span<const Range> max, std::span<const Range> min, std::span<const Range> means) {
  double most = largest_of(min).high;
  for (size_t i = 0; i < means.size(); ++i) most += std::max(0.0, means[i].high - min[i].low);
  const double least = largest_of(means).low;
  return {least, std::max(least, std::min(most, largest_of(max).high))};
}

// What is positive is not above the largest.
Range norm_of_maxima(std::span<const Range> norms, std::span<const Range> min) {
  double squares = 0;
  for (const Range& norm : norms) squares += norm.high * norm.high;
  const bool positive =
      !min.empty() && std::all_of(min.begin(), min.end(), [](const Range& one) { return one.low >= 0; });
  return {positive ? largest_of(norms).low : 0, std::sqrt(squares)};
}

std::vector<Range> negated(std::span<const Range> ranges) {
  std::vector<Range> negated;
  for (const Range& range : ranges) negated.push_back({-range.high, -range.low});
  return negated;
}

// Pieces that have the same boxes of the whole are terms of a sum, or maxima.
std::vector<std::vector<size_t>> terms_of(const TensorPieces& pieces) {
  std::vector<std::vector<std::vector<int64_t>>> places(pieces.records.size());
  for (const PieceBox& box : pieces.boxes) {
    places[box.piece].push_back(box.to);
    places[box.piece].push_back(box.size);
  }
  std::map<std::vector<std::vector<int64_t>>, std::vector<size_t>> terms;
  for (size_t i = 0; i < places.size(); ++i) terms[places[i]].push_back(i);
  std::vector<std::vector<size_t>> all;
  for (auto& [place, of_place] : terms) all.push_back(std::move(of_place));
  return all;
}

class Merger {
 public:
  Merger(const TensorPieces& pieces, std::span<const StatisticValues> of_pieces)
      : pieces_(pieces), values_(of_pieces), terms_(terms_of(pieces)) {}

  StatisticValues run() {
    StatisticValues merged;
    merged.origin = values_.front().origin;
    merged.dialects = values_.front().dialects;
    merged.dtype = values_.front().dtype;
    merged.shape = pieces_.shape;
    merged.finite_only = values_.front().finite_only;
    for (const StatisticValues& one : values_) {
      if (!one.bad_number.empty()) merged.bad_number = one.bad_number;
    }
    const auto put = [&](Extremum which, const std::optional<Range>& range) {
      if (range) merged.numbers[static_cast<size_t>(which)] = number_of(*range, pieces_.factor);
    };
    put(Extremum::kMax, extreme(Extremum::kMax, Extremum::kMin, false));
    put(Extremum::kMin, extreme(Extremum::kMin, Extremum::kMax, true));
    put(Extremum::kMean, has_maxima() ? mean_of_all_maxima() : mean());
    put(Extremum::kNorm, norm());
    if (pieces_.overlap == PieceOverlap::kNone && pieces_.factor > 0) add_counts(merged);
    return merged;
  }

 private:
  [[nodiscard]] bool has_maxima() const { return pieces_.overlap == PieceOverlap::kLargest; }

  // Of the terms; empty where one is not known, or one of several is not finite.
  [[nodiscard]] std::vector<Range> ranges(const std::vector<size_t>& terms, Extremum which) const {
    std::vector<Range> ranges;
    for (const size_t i : terms) {
      const auto& number = values_[i].number(which);
      if (!number || (terms.size() > 1 && !std::isfinite(number->value))) return {};
      ranges.push_back(range_of(*number));
    }
    return ranges;
  }

  // The smallest one is the largest of the negated.
  [[nodiscard]] std::optional<Range> extreme(Extremum own, Extremum other, bool smallest) const {
    Range all{-HUGE_VAL, -HUGE_VAL};
    for (const std::vector<size_t>& terms : terms_) {
      std::vector<Range> max = ranges(terms, own), min = ranges(terms, other);
      if (max.empty() || (terms.size() > 1 && min.empty())) return std::nullopt;
      if (has_nan(max)) return max.front();
      if (terms.size() > 1 && has_maxima()) max = {smallest ? smallest_of_maxima(min, max) : largest_of(max)};
      if (smallest) {
        max = negated(max);
        min = negated(min);
      }
      const Range one = max.size() == 1 ? max.front() : largest_of_sum(max, min);
      all = {std::max(all.low, one.low), std::max(all.high, one.high)};
    }
    return smallest ? Range{-all.high, -all.low} : all;
  }

  // Padding is 0.
  [[nodiscard]] std::optional<Range> mean() const {
    Range sum;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto& number = values_[i].number(Extremum::kMean);
      const auto count = values_[i].elements();
      if (!number || !count || values_[i].mean_of_first_chunk) return std::nullopt;
      const Range range = range_of(*number);
      sum.low += range.low * static_cast<double>(*count);
      sum.high += range.high * static_cast<double>(*count);
    }
    const auto count = static_cast<double>(element_count(pieces_.shape).value_or(0));
    if (count == 0) return std::nullopt;
    return Range{sum.low / count, sum.high / count};
  }

  [[nodiscard]] std::optional<Range> mean_of_all_maxima() const {
    Range sum;
    for (const std::vector<size_t>& terms : terms_) {
      const std::vector<Range> max = ranges(terms, Extremum::kMax), min = ranges(terms, Extremum::kMin),
                               means = ranges(terms, Extremum::kMean);
      const auto count = values_[terms.front()].elements();
      const bool of_part =
          std::any_of(terms.begin(), terms.end(), [&](size_t i) { return values_[i].mean_of_first_chunk; });
      if (max.empty() || min.empty() || means.empty() || !count || of_part) return std::nullopt;
      const Range mean = mean_of_maxima(max, min, means);
      sum.low += mean.low * static_cast<double>(*count);
      sum.high += mean.high * static_cast<double>(*count);
    }
    const auto count = static_cast<double>(element_count(pieces_.shape).value_or(0));
    if (count == 0) return std::nullopt;
    return Range{sum.low / count, sum.high / count};
  }

  [[nodiscard]] std::optional<Range> norm() const {
    Range squares;
    for (const std::vector<size_t>& terms : terms_) {
      const std::vector<Range> norms = ranges(terms, Extremum::kNorm);
      if (norms.empty()) return std::nullopt;
      const Range sum = terms.size() == 1 ? norms.front()
                        : has_maxima()    ? norm_of_maxima(norms, ranges(terms, Extremum::kMin))
                                          : norm_of_sum(norms);
      squares.low += std::max(0.0, sum.low) * std::max(0.0, sum.low);
      squares.high += sum.high * sum.high;
    }
    return Range{std::sqrt(squares.low), std::sqrt(squares.high)};
  }

  void add_counts(StatisticValues& merged) const {
    using Count = std::optional<uint64_t> StatisticValues::*;
    for (const Count count :
         {&StatisticValues::count, &StatisticValues::negative, &StatisticValues::positive, &StatisticValues::zero,
          &StatisticValues::nan, &StatisticValues::negative_inf, &StatisticValues::positive_inf}) {
      uint64_t sum = 0;
      bool known = true;
      for (const StatisticValues& one : values_) {
        known = known && (one.*count).has_value();
        sum += (one.*count).value_or(0);
      }
      if (known) merged.*count = sum;
    }
  }

  const TensorPieces& pieces_;
  const std::span<const StatisticValues> values_;
  const std::vector<std::vector<size_t>> terms_;
};

}  // namespace

StatisticValues merged_statistics(const TensorPieces& pieces, std::span<const StatisticValues> of_pieces) {
  return pieces.is_plain() ? of_pieces.front() : Merger(pieces, of_pieces).run();
}

}  // namespace msdump
