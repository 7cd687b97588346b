#include "divergence/model/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "divergence/model/constants.h"

namespace msdump {
namespace {

// Groups up to this size are judged without the sample itself; in larger ones it does not matter.
constexpr size_t kSmall = 32;
constexpr double kDeviationOfNormal = 1.4826;

// Between neighbours, linearly. Reorders the values.
double quantile_of(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), below, values.end());
  if (below + 1 == values.end()) return *below;
  const double above = *std::min_element(below + 1, values.end());
  return *below + (place - std::floor(place)) * (above - *below);
}

double median_of(std::vector<double>& values) { return quantile_of(values, 0.5); }

double deviation_of(const std::vector<double>& values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return kDeviationOfNormal * median_of(distances);
}

// The values less one of them: the first that equals `value`.
std::vector<double> without_one(std::vector<double> values, double value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found != values.end()) values.erase(found);
  return values;
}

struct Level {
  double size = 0, centre = 0, deviation = 0;
};

}  // namespace

Calibration::Calibration(std::vector<Sample> samples, const Rule& rule) : samples_(std::move(samples)), rule_(rule) {
  const auto add = [](std::vector<Group>& groups, uint32_t index, double value) {
    if (groups.size() <= index) groups.resize(index + 1);
    groups[index].values.push_back(value);
  };
  std::vector<uint32_t> order(samples_.size());  // by unit of a kind
  std::iota(order.begin(), order.end(), 0U);
  const auto unit_of = [&](uint32_t i) { return std::pair(samples_[i].group.kind, samples_[i].unit); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return unit_of(a) < unit_of(b); });
  values_.resize(samples_.size());
  std::vector<double> of_unit;
  for (auto at = order.begin(); at != order.end();) {
    const auto end = std::find_if(at, order.end(), [&](uint32_t other) { return unit_of(other) != unit_of(*at); });
    of_unit.clear();
    std::transform(at, end, std::back_inserter(of_unit), [&](uint32_t i) { return samples_[i].value; });
    const double value = median_of(of_unit);
    const SampleGroup& group = samples_[*at].group;
    add(kinds_, group.kind, value);
    add(classes_, group.noise_class, value);
    all_.values.push_back(value);
    for (; at != end; ++at) values_[*at] = value;
  }
  const auto finish = [&](Group& group) {
    if (group.values.empty()) return;
    group.centre = quantile_of(group.values, rule_.share);
    group.deviation = deviation_of(group.values, group.centre);
  };
  for (std::vector<Group>* const groups : {&kinds_, &classes_}) std::for_each(groups->begin(), groups->end(), finish);
  finish(all_);
  if (rule_.kinds_vary) {
    for (const Group& kind : kinds_) {
      if (!kind.values.empty()) centres_.push_back(kind.centre);
    }
    if (!centres_.empty()) between_ = deviation_of(centres_, median_of(centres_));
  }
  std::vector<double> scales;
  for (const Sample& sample : samples_) {
    if (sample.spread > 0) scales.push_back(std::abs(sample.value - kinds_[sample.group.kind].centre) / sample.spread);
  }
  if (scales.size() < kFewScales) return;
  scale_ = std::clamp(kDeviationOfNormal * median_of(scales), kLeastScale, kMostScale);
}

double Calibration::between_others(const Group* kind) const {
  if (kind == nullptr || kind->values.empty() || centres_.size() > kSmall) return between_;
  std::vector<double> others = without_one(centres_, kind->centre);
  return others.empty() ? 0 : deviation_of(others, median_of(others));
}

Centre Calibration::centre_of(SampleGroup group, double spread, const double* left_out) const {
  const auto level = [&](const Group* found) {
    Level result;
    if (found == nullptr || found->values.empty()) return result;
    result = {static_cast<double>(found->values.size()), found->centre, found->deviation};
    if (left_out == nullptr) return result;
    result.size -= 1;
    if (found->values.size() > kSmall) return result;
    std::vector<double> others = without_one(found->values, *left_out);
    if (others.empty()) return Level();
    result.centre = quantile_of(others, rule_.share);
    result.deviation = deviation_of(others, result.centre);
    return result;
  };
  const auto of = [](const std::vector<Group>& groups, uint32_t index) {
    return index < groups.size() ? &groups[index] : nullptr;
  };
  const Level all = level(&all_), of_class = level(of(classes_, group.noise_class)),
              kind = level(of(kinds_, group.kind));
  const auto lean = [](const Level& from, double on, double weight) {
    return (from.size * from.centre + weight * on) / (from.size + weight);
  };
  const double above = rule_.by_class ? lean(of_class, lean(all, rule_.prior, kLeanOfAll), kLeanOfClass) : rule_.prior;
  Centre result;
  result.centre = lean(kind, above, kLeanOfKind);
  result.siblings = static_cast<uint32_t>(kind.size);
  result.sibling_centre = kind.centre;
  result.sibling_spread = kind.deviation;
  const double prior = spread * scale_;
  const double degrees = std::max(0.0, kind.size - 1);  // a single sibling has no spread
  const double variance =
      (kLeanOfSpread * prior * prior + degrees * kind.deviation * kind.deviation) / (kLeanOfSpread + degrees);
  // The centre itself is not known better than this; less where the siblings disagree with what the kind leans on.
  const double apart = kind.size > 0 ? kind.centre - above : 0;
  const double between = rule_.kinds_vary ? between_others(of(kinds_, group.kind)) : 0;
  const double of_kinds = std::max(prior * prior, between * between);
  result.spread = std::sqrt(variance + (of_kinds * kLeanOfKind + apart * apart) / (kind.size + kLeanOfKind));
  return result;
}

Centre Calibration::without(uint32_t sample) const {
  const Sample& one = samples_[sample];
  return centre_of(one.group, one.spread, &values_[sample]);
}

Centre Calibration::at(SampleGroup group, double spread) const { return centre_of(group, spread, nullptr); }

}  // namespace msdump
