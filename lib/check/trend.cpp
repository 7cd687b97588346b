#include "check/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace msdump::check {
namespace {

using Number = std::optional<int64_t>;

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The largest of some neighbours; a non-finite number if there is one.
std::optional<double> together(std::span<const std::optional<double>> numbers) {
  std::optional<double> largest;
  for (const auto& number : numbers) {
    if (!number) continue;
    if (!std::isfinite(*number)) return number;
    largest = std::max(largest.value_or(*number), *number);
  }
  return largest;
}

}  // namespace

std::vector<TrendSeries> series_by_step(const CheckedDump& dump) {
  using Key = std::tuple<Number, Number, OperatorId, Io, std::string_view, uint32_t>;
  std::map<Key, std::map<int64_t, TensorId>> found;
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    if (dump.role(tensor) == TensorRole::kOther || dump.op_of(tensor) == kNoId) continue;
    const TensorRecord& record = dump.record(tensor);
    const Identity identity = identity_of(dump.index(), record);
    if (!identity.step) continue;
    const Key key{identity.rank,  identity.graph,   dump.same_in_all_steps(dump.op_of(tensor)),
                  record.name.io, record.name.slot, record.occurrence};
    found[key].try_emplace(*identity.step, tensor);
  }
  std::vector<TrendSeries> series;
  for (const auto& [key, steps] : found) {
    if (steps.size() < 2) continue;
    TrendSeries& one = series.emplace_back();
    for (const auto& [step, tensor] : steps) one.tensors.push_back(tensor);
  }
  return series;
}

std::string sparkline(std::span<const std::optional<double>> numbers, size_t most) {
  const size_t places = std::min(numbers.size(), std::max<size_t>(most, 1));
  std::vector<std::optional<double>> shown;
  for (size_t i = 0; i < places; ++i) {
    const size_t begin = i * numbers.size() / places, end = (i + 1) * numbers.size() / places;
    shown.push_back(together(numbers.subspan(begin, end - begin)));
  }
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& number : shown) {
    if (!number || !std::isfinite(*number)) continue;
    low = std::min(low, *number);
    high = std::max(high, *number);
  }
  std::string text;
  for (const auto& number : shown) {
    if (!number) {
      text += ' ';
    } else if (!std::isfinite(*number)) {
      text += '!';
    } else {
      // Halves, because the range may be larger than a double.
      const double share = high > low ? (*number / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
      text += kBars[std::min<size_t>(kBars.size() - 1, static_cast<size_t>(share * static_cast<double>(kBars.size())))];
    }
  }
  return text;
}

}  // namespace msdump::check
