#include "divergence/error_growth.h"

#include <algorithm>
#include <vector>

namespace msdump {
namespace {

constexpr size_t kParts = 10;

double median_between(std::vector<double>::iterator begin, std::vector<double>::iterator end) {
  const auto middle = begin + (end - begin) / 2;
  std::nth_element(begin, middle, end);
  return *middle;
}

}  // namespace

ErrorGrowth error_growth(const RunView& view, const NoiseModel& model) {
  std::vector<double> errors, noises;
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    if (view.place(run).rank != view.place(0).rank || view.place(run).step != view.place(0).step) continue;
    for (const uint32_t tensor : view.outputs(run)) {
      const auto error = view.error(tensor);
      if (error && !error->discrete) errors.push_back(error->relative);
    }
    for (const ScoredOutput& output : model.outputs(run)) {
      if (output.judged) noises.push_back(output.noise);
    }
  }
  ErrorGrowth growth;
  const size_t parts = std::min(kParts, errors.size());
  for (size_t part = 0; part < parts; ++part) {
    const auto at = [&](size_t of) { return errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * of / parts); };
    growth.medians.push_back(median_between(at(part), at(part + 1)));
  }
  if (!noises.empty()) growth.noise = median_between(noises.begin(), noises.end());
  return growth;
}

}  // namespace msdump
