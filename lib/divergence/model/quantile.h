// Quantiles of values that are in no order.
#pragma once

#include <span>

namespace msdump {

// The value that this share of the others are at most as large as, without interpolation: 0.5 for the median, of an even
// number the upper one; 1 for the largest. `values` are reordered; there is at least one.
[[nodiscard]] double quantile_of_unsorted(std::span<double> values, double share);

}  // namespace msdump
