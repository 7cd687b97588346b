#include "compare/match/cut/layout/statistic_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/statistics/merged_statistics.h"

namespace msdump {
namespace {

constexpr double kNear = 0.05, kEqual = 1e-4;  // of a unit
constexpr size_t kEnds = 2 * kExtrema;

double middle_of(const std::vector<double>& values, Extremum which) {
  const size_t at = 2 * static_cast<size_t>(which);
  return (values[at] + values[at + 1]) / 2;
}

// Of a sum there is only a range.
bool knows_extremes(const std::vector<double>& values) {
  const auto known = [&](Extremum which) {
    const size_t at = 2 * static_cast<size_t>(which);
    return values[at + 1] - values[at] <= kNear * std::abs(middle_of(values, which));
  };
  return known(Extremum::kMax) && known(Extremum::kMin);
}

}  // namespace

std::vector<double> StatisticSamples::values_of(const PieceStatistics& pieces, const CutLayout& layout, int64_t copy,
                                                const Shape& whole, Places) {
  std::vector<StatisticValues> parts;
  for (size_t rank = 0; rank < pieces.values().size(); ++rank) {
    if (layout.copy_of(static_cast<int64_t>(rank)) == copy) parts.push_back(pieces.values()[rank]);
  }
  const StatisticValues merged = merged_statistics(pieces_of(layout, pieces.records(), whole, copy), parts);
  std::vector<double> values;
  for (const auto& number : merged.numbers) {
    const double slack = number ? number->slack : 0;
    const double value = number ? number->value : std::numeric_limits<double>::quiet_NaN();
    values.push_back(value - slack);
    values.push_back(value + slack);
  }
  return values;
}

bool StatisticSamples::reduces_equals(const PieceStatistics& pieces, const CutLayout& layout) {
  const auto equal = [](const StatisticValues& a, const StatisticValues& b) {
    for (size_t i = 0; i < kExtrema; ++i) {
      const auto &x = a.numbers[i], &y = b.numbers[i];
      if (x.has_value() != y.has_value() || (x && x->value != y->value)) return false;
    }
    return true;
  };
  const auto is_constant = [](const StatisticValues& values) {
    const auto &max = values.number(Extremum::kMax), &min = values.number(Extremum::kMin);
    return max && min && max->value == min->value;
  };
  return any_terms(layout, [&](size_t one, size_t other) {
    const StatisticValues& values = pieces.values()[one];
    return pieces.shapes()[one] == pieces.shapes()[other] && !is_constant(values) &&
           equal(values, pieces.values()[other]);
  });
}

bool StatisticSamples::tell(const std::vector<double>& a, const std::vector<double>& b) {
  const double max = middle_of(b, Extremum::kMax), min = middle_of(b, Extremum::kMin);
  return max != min && knows_extremes(a) && knows_extremes(b);
}

StatisticSamples::Target::Target(std::vector<double> values, double roundoff, const Shape& whole)
    : values_(std::move(values)) {
  const auto count = static_cast<double>(std::max<int64_t>(element_count(whole).value_or(1), 1));
  const double max = std::abs(middle_of(values_, Extremum::kMax)), min = std::abs(middle_of(values_, Extremum::kMin));
  const double norm = middle_of(values_, Extremum::kNorm);
  const double extreme = std::isnan(max + min) ? 0 : std::max(max, min);
  const double magnitude = std::isnan(norm) ? extreme : norm / std::sqrt(count);
  near_ = roundoff > 0 ? kNear : kEqual;
  units_ = {extreme, extreme, magnitude / std::sqrt(count) + roundoff * magnitude, norm};
}

Nearness StatisticSamples::Target::nearness(const std::vector<double>& a, double factor, bool /*hurry*/) const {
  size_t known = 0, agree = 0;
  double error = 0;
  for (size_t i = 0; i < a.size(); i += 2) {
    const size_t which = i % kEnds;
    const double low = a[i] * factor, high = a[i + 1] * factor;
    const double wanted_low = values_[which], wanted_high = values_[which + 1];
    if (std::isnan(low) || std::isnan(high) || std::isnan(wanted_low) || std::isnan(wanted_high)) continue;
    ++known;
    const double distance = low == wanted_low ? 0 : std::max({0.0, low - wanted_high, wanted_low - high});
    const double relative = distance == 0 ? 0 : distance / std::max(units_[which / 2], 1e-300);
    if (relative <= near_) ++agree;
    error = std::max(error, relative);
  }
  return {known == 0 ? 0 : static_cast<double>(agree) / static_cast<double>(known), error};
}

}  // namespace msdump
