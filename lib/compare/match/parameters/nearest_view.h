// Which view of a parameter has the values of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/match/parameters/parameter_values.h"
#include "compare/match/parameters/parameter_views.h"

namespace msdump {

struct ValuedTensor {
  ParameterValues& values;
  uint32_t tensor = 0;
};
struct NearestView {
  size_t place = 0;  // in the views
  double distance = 0;
};

// Nothing if none of the views of `from` is near `to`.
[[nodiscard]] std::optional<NearestView> nearest_view(const ValuedTensor& from, const ValuedTensor& to,
                                                      const std::vector<NamedView>& views);

// value_distance of a view; nothing for one whose first points show that it is far.
[[nodiscard]] std::optional<double> distance_of_view(const ValuedTensor& from, const TensorView& view,
                                                     std::span<const double> to);

}  // namespace msdump
