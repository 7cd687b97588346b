#include "compare/match/parameters/nearest_view.h"

#include <algorithm>

namespace msdump {
namespace {

constexpr double kHopeless = 0.8;  // a distance of the first points

}  // namespace

std::optional<double> distance_of_view(const ValuedTensor& from, const TensorView& view, std::span<const double> to) {
  const auto first = from.values.of(from.tensor, view, kFirstPoints);
  const auto hope = value_distance(first, to.first(std::min(to.size(), first.size())));
  if (!hope || *hope > kHopeless) return std::nullopt;
  return value_distance(from.values.of(from.tensor, view), to);
}

std::optional<NearestView> nearest_view(const ValuedTensor& from, const ValuedTensor& to,
                                        const std::vector<NamedView>& views) {
  std::optional<NearestView> best;
  const std::span<const double> values = to.values.of(to.tensor);
  for (size_t i = 0; i < views.size(); ++i) {
    const auto distance = distance_of_view(from, views[i].view, values);
    if (distance && is_near(*distance, values.size()) && (!best || *distance < best->distance))
      best = NearestView{i, *distance};
  }
  return best;
}

}  // namespace msdump
