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

StepTensorId StepHistory::add(StepTensor tensor) {
  tensors_.push_back(std::move(tensor));
  values_.emplace_back();
  return static_cast<StepTensorId>(tensors_.size() - 1);
}

size_t StepHistory::number_of(int64_t step) {
  if (last_ < steps_.size() && steps_[last_] == step) return last_;
  const auto [found, is_new] = number_of_.try_emplace(step, steps_.size());
  if (is_new) steps_.push_back(step);
  return last_ = found->second;
}

void StepHistory::set(StepTensorId tensor, int64_t step, float value) {
  ++set_;
  std::vector<float>& values = values_[tensor];
  const size_t bin = number_of(step) >> shift_;
  if (bin >= values.size()) {
    const size_t before = values.capacity();
    values.resize(bin + 1, kNone);
    held_ += (values.capacity() - before) * sizeof(float);
  }
  if (std::isinf(value)) value = std::numeric_limits<float>::quiet_NaN();
  values[bin] = farther(values[bin], value, bin == 0 ? kNone : values[bin - 1]);
  while (held_ > budget_ && (steps_.size() >> shift_) > 1) halve();
}

void StepHistory::halve() {
  ++shift_;
  held_ = 0;
  for (std::vector<float>& values : values_) {
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
  if (tensors_.empty()) {
    const size_t budget = budget_;
    *this = std::move(other);
    budget_ = budget;
    return;
  }
  while (shift_ < other.shift_) halve();
  while (other.shift_ < shift_) other.halve();
  const bool same_steps = steps_ == other.steps_;
  const uint64_t all = set_ + other.set_;
  for (StepTensorId id = 0; id < other.tensors(); ++id) {
    const StepTensorId added = add(std::move(other.tensors_[id]));
    std::vector<float>& values = other.values_[id];
    if (same_steps) {
      held_ += values.capacity() * sizeof(float);
      values_[added] = std::move(values);
      continue;
    }
    for (size_t bin = 0; bin < values.size(); ++bin) {
      if (values[bin] != kNone) set(added, other.steps_[bin << other.shift_], values[bin]);
    }
  }
  set_ = all;
}

std::vector<int64_t> StepHistory::all_steps() const {
  std::vector<int64_t> steps = steps_;
  std::sort(steps.begin(), steps.end());
  return steps;
}

StepSeries StepHistory::series(StepTensorId tensor) const {
  const std::vector<float>& values = values_[tensor];
  std::vector<std::pair<int64_t, size_t>> bins;
  for (size_t bin = 0; bin < values.size(); ++bin) {
    if (values[bin] != kNone) bins.emplace_back(steps_[bin << shift_], bin);
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
