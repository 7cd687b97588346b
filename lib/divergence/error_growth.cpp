#include "divergence/error_growth.h"

#include <algorithm>
#include <span>
#include <vector>

#include "divergence/model/quantile.h"

namespace msdump {
namespace {

constexpr size_t kParts = 10;

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
      if (output.judged()) noises.push_back(output.noise);
    }
  }
  ErrorGrowth growth;
  const size_t parts = std::min(kParts, errors.size());
  for (size_t part = 0; part < parts; ++part) {
    const size_t first = errors.size() * part / parts, end = errors.size() * (part + 1) / parts;
    growth.medians.push_back(quantile_of_unsorted(std::span(errors).subspan(first, end - first), 0.5));
  }
  if (!noises.empty()) growth.noise = quantile_of_unsorted(noises, 0.5);
  return growth;
}

}  // namespace msdump
