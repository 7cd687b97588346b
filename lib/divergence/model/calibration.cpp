#include "divergence/model/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "divergence/model/constants.h"

namespace msdump {
namespace {

// Groups up to this size are sorted again without the sample that is judged; in larger ones it does not matter.
constexpr size_t kSmall = 32;
constexpr double kDeviationOfNormal = 1.4826;

// Between neighbours, linearly.
double quantile_of(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median_of(std::span<const double> sorted) { return quantile_of(sorted, 0.5); }

double deviation_of(std::span<const double> values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  std::sort(distances.begin(), distances.end());
  return kDeviationOfNormal * median_of(distances);
}

struct Level {
  double size = 0, centre = 0, deviation = 0;
};

}  // namespace

Calibration::Calibration(std::vector<Sample> samples, const Rule& rule) : samples_(std::move(samples)), rule_(rule) {
  const auto add = [](std::vector<Group>& groups, uint32_t index, double value) {
    if (groups.size() <= index) groups.resize(index + 1);
    groups[index].sorted.push_back(value);
  };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<double>> units;
  for (const Sample& sample : samples_) units[{sample.group.kind, sample.unit}].push_back(sample.value);
  for (auto& [key, values] : units) {
    std::sort(values.begin(), values.end());
    values = {median_of(values)};
  }
  std::set<std::pair<uint32_t, uint32_t>> added;
  values_.reserve(samples_.size());
  for (const Sample& sample : samples_) {
    const std::pair key(sample.group.kind, sample.unit);
    const double value = units.at(key).front();
    values_.push_back(value);
    if (!added.insert(key).second) continue;
    add(kinds_, sample.group.kind, value);
    add(classes_, sample.group.noise_class, value);
    all_.sorted.push_back(value);
  }
  const auto finish = [&](Group& group) {
    if (group.sorted.empty()) return;
    std::sort(group.sorted.begin(), group.sorted.end());
    group.centre = quantile_of(group.sorted, rule_.share);
    group.deviation = deviation_of(group.sorted, group.centre);
  };
  for (std::vector<Group>* const groups : {&kinds_, &classes_}) std::for_each(groups->begin(), groups->end(), finish);
  finish(all_);
  if (rule_.kinds_vary) {
    for (const Group& kind : kinds_) {
      if (!kind.sorted.empty()) centres_.push_back(kind.centre);
    }
    std::sort(centres_.begin(), centres_.end());
    if (!centres_.empty()) between_ = deviation_of(centres_, median_of(centres_));
  }
  std::vector<double> scales;
  for (const Sample& sample : samples_) {
    if (sample.spread > 0) scales.push_back(std::abs(sample.value - kinds_[sample.group.kind].centre) / sample.spread);
  }
  if (scales.size() < kFewScales) return;
  std::sort(scales.begin(), scales.end());
  scale_ = std::clamp(kDeviationOfNormal * median_of(scales), kLeastScale, kMostScale);
}

double Calibration::between_others(const Group* kind) const {
  if (kind == nullptr || kind->sorted.empty() || centres_.size() > kSmall) return between_;
  std::vector<double> others = centres_;
  others.erase(std::lower_bound(others.begin(), others.end(), kind->centre));
  return others.empty() ? 0 : deviation_of(others, median_of(others));
}

Centre Calibration::centre_of(SampleGroup group, double spread, const double* left_out) const {
  const auto level = [&](const Group* found) {
    Level result;
    if (found == nullptr || found->sorted.empty()) return result;
    result = {static_cast<double>(found->sorted.size()), found->centre, found->deviation};
    if (left_out == nullptr) return result;
    result.size -= 1;
    if (found->sorted.size() > kSmall) return result;
    std::vector<double> others = found->sorted;
    others.erase(std::lower_bound(others.begin(), others.end(), *left_out));
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
