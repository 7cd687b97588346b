#include "divergence/model/quantile.h"

#include <algorithm>

namespace msdump {

double quantile_of_unsorted(std::span<double> values, double share) {
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size()));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

}  // namespace msdump
