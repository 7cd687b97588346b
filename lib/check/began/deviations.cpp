#include "check/began/deviations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "base/containers.h"
#include "base/numbers.h"

namespace msdump::check {
namespace {

constexpr size_t kBefore = 5;      // values whose median is expected: the fewest that two outliers do not move
constexpr size_t kReference = 16;  // earlier deviations that a deviation is at least compared with
constexpr size_t kForgotten = 4;   // the first quarter of a training is no measure: it settles
constexpr size_t kAfter = 8;       // values after a change that tell its kind; so many equal ones are a freeze
constexpr size_t kSeasons = 3;     // times that a deviation of a season is seen
constexpr double kSeason = 0.3;    // least size of its later ones
constexpr size_t kSlowPast = 6;    // of them before it, at least
// The logarithm that float32 rounds, and by how much a series has to move that never did (a count, a gradient that is clipped).
constexpr double kRounding = 1e-6, kCoarse = 0.1;

// The median of at most kAfter + kBefore values.
template <class Value>
double median_of(std::span<const Value> values) {
  std::array<double, kAfter + kBefore> copy{};
  std::copy(values.begin(), values.end(), copy.begin());
  return quantile_of_unsorted({copy.data(), values.size()}, 0.5);
}

// A series on the scale on which its values are compared.
struct Series {
  std::vector<float> values;
  std::vector<double> y, slopes;  // slopes: differences between neighbours
  double rounding = kRounding;    // how far each may be off by it
  std::vector<Series> sides;      // of the relation of two series: these
};

std::vector<double> differences(std::span<const double> y) {
  std::vector<double> result(y.size(), 0);
  for (size_t i = 1; i < y.size(); ++i) result[i] = y[i] - y[i - 1];
  return result;
}

Series scaled(std::span<const float> values, const SeriesScale& scale) {
  std::vector<double> magnitudes;
  for (const float value : values) {
    if (value != 0) magnitudes.push_back(std::abs(static_cast<double>(value)));
  }
  Series result;
  result.values.assign(values.begin(), values.end());
  result.y.assign(values.size(), 0);
  result.slopes = result.y;
  if (magnitudes.empty()) return result;
  const double middle = quantile_of_unsorted(magnitudes, 0.5);
  const double least = *std::min_element(magnitudes.begin(), magnitudes.end());
  result.rounding = kRounding + scale.resolution / least;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    result.y[i] = scale.is_signed ? value / middle : std::log(std::max(value, least / 2));
  }
  result.slopes = differences(result.y);
  return result;
}

// The quotient of two series, or their difference if values have signs, with both series as its sides.
Series related(std::span<const float> a, std::span<const float> b, const SeriesScale& scale) {
  Series result;
  result.sides = {scaled(a, scale), scaled(b, scale)};
  for (size_t i = 0; i < a.size(); ++i) {
    result.y.push_back(result.sides[0].y[i] - result.sides[1].y[i]);
    // Differences of means have no factor.
    result.values.push_back(scale.is_signed ? 0 : static_cast<float>(std::exp(result.y[i])));
  }
  result.slopes = differences(result.y);
  result.rounding = result.sides[0].rounding + result.sides[1].rounding;
  return result;
}

// Each value less the median of the kBefore before it; 0 for the first ones.
std::vector<double> deviations_of(std::span<const double> y, size_t begin) {
  std::vector<double> deviations(y.size(), 0);
  for (size_t i = begin + kBefore; i < y.size(); ++i) deviations[i] = y[i] - median_of(y.subspan(i - kBefore, kBefore));
  return deviations;
}

// First index of the deviations that the one at `at` is compared with: all but the first quarter, at least kReference.
size_t reference_begin(size_t at, size_t first) { return std::max(first, std::min(at / kForgotten, at - kReference)); }

// The largest number in a window whose ends only move forward.
class SlidingMaximum {
 public:
  explicit SlidingMaximum(std::span<const double> numbers) : numbers_(numbers) {}
  double of(size_t begin, size_t end) {
    for (; next_ < end; ++next_) {
      while (!indices_.empty() && numbers_[indices_.back()] <= numbers_[next_]) indices_.pop_back();
      indices_.push_back(next_);
    }
    while (!indices_.empty() && indices_.front() < begin) indices_.pop_front();
    return indices_.empty() ? 0 : numbers_[indices_.front()];
  }

 private:
  std::span<const double> numbers_;
  std::deque<size_t> indices_;  // of ever smaller numbers
  size_t next_ = 0;
};

// True if a slope is nearer to 0 than what was expected.
bool slows_down(double slope, double deviation) { return std::abs(slope) < std::abs(slope - deviation); }

std::vector<double> magnitudes_of(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  for (double& value : result) value = std::abs(value);
  return result;
}

SeriesChange classify(const Series& series, size_t at) {
  const std::span<const double> y(series.y);
  const std::span<const double> slopes(series.slopes);
  const std::span<const float> values(series.values);
  const size_t after = std::min(kAfter, y.size() - at);
  const std::span<const double> slopes_before = slopes.subspan(at - kBefore, kBefore);
  const std::span<const double> slopes_after = slopes.subspan(at, after);
  const std::vector<double> rough_before = magnitudes_of(slopes_before), rough_after = magnitudes_of(slopes_after);
  const double before = median_of(y.subspan(at - kBefore, kBefore)), jump = y[at] - before;
  const double settled = median_of(y.subspan(at + after / 2, after - after / 2)) - before;
  const double step_before = median_of(slopes_before), step_after = median_of(slopes_after);
  const double usual = median_of<double>(rough_before), now = median_of<double>(rough_after);
  const auto ratio = [&](double value) -> std::optional<double> {
    const double reference = median_of(values.subspan(at - kBefore, kBefore));
    return reference == 0 ? std::nullopt : std::optional(rounded(value / reference));
  };
  const double spread = rounded(now / std::max(usual, series.rounding));
  // Neighbours differ as much as the change itself, and in both directions: there is no new level.
  const bool scattered = now > std::abs(jump) / 2;
  const double drift = (y[at + after - 1] - y[at - 1]) / static_cast<double>(after);
  if (scattered && std::abs(drift) < now / 2) return {ChangeKind::kSpread, spread};
  if (std::abs(step_after - step_before) > std::abs(slopes[at] - step_before) / 2)
    return {ChangeKind::kSlope, rounded(std::exp(step_after - step_before))};
  const bool stays = settled * jump > 0 && std::abs(settled) > std::abs(jump) / 2;
  if (stays) return {ChangeKind::kLevel, ratio(median_of(values.subspan(at, after)))};
  return {ChangeKind::kSpike, ratio(values[at])};
}

// True if the same deviation comes again and again after equal times.
bool is_season(std::span<const double> deviations, size_t first) {
  // A deviation of the same sign counts, unless it follows another at once.
  std::vector<size_t> again = {first};
  for (size_t at = first + 1; at < deviations.size(); ++at) {
    if (deviations[at] / deviations[first] < kSeason) continue;
    if (at - again.back() > kBefore) again.push_back(at);
  }
  if (again.size() < kSeasons) return false;
  const size_t period = again[1] - again[0];
  for (size_t i = 2; i < again.size(); ++i) {
    const size_t time = again[i] - again[i - 1];
    if (std::max(time, period) - std::min(time, period) > 2) return false;
  }
  return true;
}

// The bound of each movement: its own magnitude, or that of a side if it is larger. Two trainings diverge only if their quotient
// moves by more than each of them does.
template <class MovementsOf>
std::vector<double> limits_of(std::span<const double> movements, const Series& series,
                              const MovementsOf& movements_of) {
  std::vector<double> limits = magnitudes_of(movements);
  for (const Series& side : series.sides) {
    const std::vector<double> own = movements_of(side);
    for (size_t i = 0; i < own.size(); ++i) limits[i] = std::max(limits[i], std::abs(own[i]));
  }
  return limits;
}

void add_outliers(const Series& series, bool of_slope, std::vector<Deviation>& found) {
  const size_t begin = of_slope ? 1 : 0, first = kBefore + begin;
  const auto movements_of = [&](const Series& one) { return deviations_of(of_slope ? one.slopes : one.y, begin); };
  const std::vector<double> deviations = movements_of(series);
  const std::vector<double> limits = limits_of(deviations, series, movements_of);
  SlidingMaximum window(limits);
  for (size_t at = first + kReference; at < deviations.size(); ++at) {
    const double largest = window.of(reference_begin(at, first), at);
    const double limit = largest > 0 ? largest + series.rounding : std::max(kCoarse, series.rounding);
    const double score = std::abs(deviations[at]) / limit;
    if (score < kWeakScore || (of_slope && slows_down(series.slopes[at], deviations[at]))) continue;
    const auto place = static_cast<uint32_t>(at);
    found.push_back({place, static_cast<float>(score), static_cast<float>(deviations[at]), of_slope, false,
                     is_season(deviations, at), place, classify(series, at)});
  }
}

// The mean of the kSlowWindow values from each index on less that of those before; 0 where there are not so many. Medians of five
// stand for the values, so that a spike is none of it.
std::vector<double> contrasts(std::span<const double> y) {
  std::vector<double> sums(y.size() + 2, 0);  // of the medians before an index
  for (size_t i = 0; i <= y.size(); ++i)
    sums[i + 1] = sums[i] + (i < kBefore ? 0 : median_of(y.subspan(i - kBefore, kBefore)));
  const auto sum = [&](size_t begin) { return sums[begin + kSlowWindow + 1] - sums[begin + kBefore]; };
  std::vector<double> result(y.size(), 0);
  for (size_t i = kSlowWindow; i + kSlowWindow <= y.size(); ++i)
    result[i] = (sum(i) - sum(i - kSlowWindow)) / static_cast<double>(kSlowWindow - kBefore + 1);
  return result;
}

// The index at which a slow deviation begins. A level until there, and another level or a slope from there on, fit the values
// with the least squares.
size_t onset_of_slow(std::span<const double> series, size_t middle) {
  const size_t begin = middle - 2 * kSlowWindow, end = std::min(middle + kSlowWindow, series.size());
  double least = std::numeric_limits<double>::infinity();
  size_t best = middle;
  for (size_t at = middle - kSlowWindow; at + kBefore <= end && at <= middle + kAfter; ++at) {
    const std::span<const double> before = series.subspan(begin, at - begin);
    const std::span<const double> after = series.subspan(at, std::min(kSlowWindow, end - at));
    const double level = std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(before.size());
    double squares = 0, sum = 0, product = 0, times = 0, rest = 0;
    for (const double y : before) rest += (y - level) * (y - level);
    for (size_t i = 0; i < after.size(); ++i) {
      const double y = after[i] - level, time = static_cast<double>(i + 1);
      squares += y * y;
      sum += y;
      product += y * time;
      times += time * time;
    }
    // The squares that remain after the better fit: another level, or a line that starts at the old level.
    const auto count = static_cast<double>(after.size());
    rest += squares - std::max(sum * sum / count, product * product / times);
    if (rest / static_cast<double>(before.size() + after.size()) < least) {
      least = rest / static_cast<double>(before.size() + after.size());
      best = at;
    }
  }
  return best;
}

// Adds a deviation for each stretch of large contrasts, at the largest of them.
void add_slow(const Series& series, std::vector<Deviation>& found) {
  const auto movements_of = [](const Series& one) { return contrasts(one.y); };
  const std::vector<double> contrast = movements_of(series);
  const std::vector<double> limits = limits_of(contrast, series, movements_of);
  const size_t begin = found.size();
  double largest = 0;  // of those whose windows lie before that of `at`
  bool goes_on = false;
  for (size_t at = kSlowWindow; at + kSlowWindow <= contrast.size(); ++at) {
    largest = std::max(largest, limits[at - kSlowWindow]);
    if (at < kSlowWindow * kSlowPast) continue;
    const auto score = static_cast<float>(std::abs(contrast[at]) / (largest + series.rounding));
    const bool is_first = score >= kWeakScore && !goes_on;
    goes_on = score >= kWeakScore;
    if (is_first) found.emplace_back();
    if (goes_on && score > found.back().score) {
      found.back() = {static_cast<uint32_t>(at), score, static_cast<float>(contrast[at]), false, true};
    }
  }
  for (size_t i = begin; i < found.size(); ++i) {
    found[i].onset = static_cast<uint32_t>(onset_of_slow(series.y, found[i].at));
    found[i].change = classify(series, found[i].onset);
  }
}

Deviation certain(size_t at, const SeriesChange& change) {
  const auto place = static_cast<uint32_t>(at);
  return {place, std::numeric_limits<float>::infinity(), 0, false, false, false, place, change};
}

size_t count_finite(std::span<const float> values) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  return static_cast<size_t>(bad - values.begin());
}

size_t run_length(std::span<const float> values, size_t begin) {
  size_t end = begin + 1;
  while (end < values.size() && values[end] == values[begin]) ++end;
  return end - begin;
}

// The first index of a run of equal values at the end of a series that is longer than any run before. A run in the middle is
// none: what moves again was not stuck.
std::optional<size_t> freeze_of(std::span<const float> values) {
  size_t longest = 0, runs = 0, last = 0;
  for (size_t begin = 0; begin < values.size(); begin += run_length(values, begin)) {
    longest = std::max(longest, last);
    last = run_length(values, begin);
    ++runs;
  }
  if (runs <= kReference ||
      static_cast<double>(last) < std::max<double>(kAfter, kWeakScore * static_cast<double>(longest)))
    return std::nullopt;
  // The first of the run is as it should be, unless there is nothing any more.
  return values.size() - last + (values.back() == 0 ? 0 : 1);
}

// Adds what moves to `found`.
std::vector<Deviation> deviations_in(const Series& series, bool is_smooth, std::vector<Deviation> found) {
  add_outliers(series, false, found);
  if (is_smooth) add_outliers(series, true, found);
  if (is_smooth) add_slow(series, found);
  std::stable_sort(found.begin(), found.end(), [](const Deviation& a, const Deviation& b) { return a.at < b.at; });
  return found;
}

}  // namespace

std::string_view name_of(ChangeKind kind) {
  static constexpr auto kNames =
      enum_table<ChangeKind, std::string_view>("spike", "level", "slope", "spread", "freeze", "nonfinite");
  return kNames[kind];
}

std::vector<Deviation> find_deviations(std::span<const float> values, const SeriesScale& scale) {
  std::vector<Deviation> found;
  const size_t finite = count_finite(values);  // values after the first NaN are not judged
  if (finite == 0) return found;
  if (finite < values.size()) {
    found.push_back(certain(finite, {ChangeKind::kNonFinite}));
  } else if (const auto at = scale.is_smooth ? freeze_of(values) : std::nullopt) {
    found.push_back(certain(*at, {ChangeKind::kFreeze, static_cast<double>(values.size() - *at)}));
  }
  return deviations_in(scaled(values.first(finite), scale), scale.is_smooth, std::move(found));
}

std::vector<Deviation> find_partings(std::span<const float> a, std::span<const float> b, const SeriesScale& scale) {
  std::vector<Deviation> found;
  const size_t finite = std::min(count_finite(a), count_finite(b));
  if (finite == 0) return found;
  if (finite < a.size()) {
    if (std::isfinite(a[finite]) != std::isfinite(b[finite]))
      found.push_back(certain(finite, {ChangeKind::kNonFinite}));
  } else if (scale.is_smooth) {
    const auto of_a = freeze_of(a), of_b = freeze_of(b);
    const size_t at = std::min(of_a.value_or(a.size()), of_b.value_or(a.size()));
    if (of_a != of_b) found.push_back(certain(at, {ChangeKind::kFreeze, static_cast<double>(a.size() - at)}));
  }
  return deviations_in(related(a.first(finite), b.first(finite), scale), scale.is_smooth, std::move(found));
}

}  // namespace msdump::check
