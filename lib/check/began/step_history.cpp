#include "check/began/step_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/containers.h"

namespace msdump::check {
namespace {

// No number. Infinities are stored as NaN.
constexpr float kNone = -std::numeric_limits<float>::infinity();

// Of two values of a bin, the one that is farther from the value before.
float farther(float a, float b, float before) {
  if (a == kNone) return b;
  if (b == kNone || std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  const double from = std::isfinite(before) ? static_cast<double>(before) : static_cast<double>(a);
  return std::abs(b - from) > std::abs(a - from) ? b : a;
}

}  // namespace

std::string_view name_of(StepStatistic statistic) {
  static constexpr auto kNames = enum_table<StepStatistic, std::string_view>("norm", "largest", "mean");
  return kNames[statistic];
}

size_t StepHistory::Timeline::number(int64_t step) {
  if (last < steps.size() && steps[last] == step) return last;
  const auto [found, is_new] = number_of.try_emplace(step, steps.size());
  if (is_new) steps.push_back(step);
  return last = found->second;
}

StepTensorId StepHistory::add(StepTensor tensor) {
  tensors_.push_back(std::move(tensor));
  values_.emplace_back();
  return static_cast<StepTensorId>(tensors_.size() - 1);
}

void StepHistory::set(StepTensorId tensor, int64_t step, float value) {
  ++set_;
  Values& of = values_[tensor];
  std::vector<float>& values = of.of_bins;
  const size_t bin = timelines_[of.timeline].number(step) >> shift_;
  if (bin >= values.size()) {
    const size_t before = values.capacity();
    values.resize(bin + 1, kNone);
    held_ += (values.capacity() - before) * sizeof(float);
  }
  if (std::isinf(value)) value = std::numeric_limits<float>::quiet_NaN();
  values[bin] = farther(values[bin], value, bin == 0 ? kNone : values[bin - 1]);
  while (held_ > budget_ && can_halve()) halve();
}

bool StepHistory::can_halve() const {
  return std::any_of(timelines_.begin(), timelines_.end(),
                     [&](const Timeline& timeline) { return timeline.steps.size() >> shift_ > 1; });
}

void StepHistory::halve() {
  ++shift_;
  held_ = 0;
  for (Values& of_tensor : values_) {
    std::vector<float>& values = of_tensor.of_bins;
    for (size_t bin = 0; 2 * bin < values.size(); ++bin) {
      const float second = 2 * bin + 1 < values.size() ? values[2 * bin + 1] : kNone;
      values[bin] = farther(values[2 * bin], second, bin == 0 ? kNone : values[bin - 1]);
    }
    values.resize((values.size() + 1) / 2);
    values.shrink_to_fit();
    held_ += values.capacity() * sizeof(float);
  }
}

void StepHistory::append(StepHistory&& other) {
  while (shift_ < other.shift_) halve();
  while (other.shift_ < shift_) other.halve();
  std::vector<uint32_t> number_of;  // of the other's timelines, here
  for (Timeline& timeline : other.timelines_) {
    const auto same = std::find_if(timelines_.begin(), timelines_.end(),
                                   [&](const Timeline& one) { return one.steps == timeline.steps; });
    number_of.push_back(static_cast<uint32_t>(same - timelines_.begin()));
    if (same == timelines_.end()) timelines_.push_back(std::move(timeline));
  }
  for (StepTensorId id = 0; id < other.tensors(); ++id) {
    tensors_.push_back(std::move(other.tensors_[id]));
    values_.push_back({std::move(other.values_[id].of_bins), number_of[other.values_[id].timeline]});
  }
  held_ += other.held_;
  set_ += other.set_;
}

std::vector<int64_t> StepHistory::all_steps() const {
  std::vector<int64_t> steps;
  for (const Timeline& timeline : timelines_) steps.insert(steps.end(), timeline.steps.begin(), timeline.steps.end());
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

StepSeries StepHistory::series(StepTensorId tensor) const {
  const std::vector<float>& values = values_[tensor].of_bins;
  const std::vector<int64_t>& steps = timelines_[values_[tensor].timeline].steps;
  std::vector<std::pair<int64_t, size_t>> bins;
  for (size_t bin = 0; bin < values.size(); ++bin) {
    if (values[bin] != kNone) bins.emplace_back(steps[bin << shift_], bin);
  }
  std::sort(bins.begin(), bins.end());
  StepSeries series;
  for (const auto& [step, bin] : bins) {
    series.steps.push_back(step);
    series.values.push_back(values[bin]);
  }
  return series;
}

}  // namespace msdump::check
