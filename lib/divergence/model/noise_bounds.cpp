#include "divergence/model/noise_bounds.h"

#include <algorithm>
#include <cmath>

#include "divergence/model/constants.h"

namespace msdump {

void NoiseBounds::sort() {
  for (std::vector<Bound>& kind : kinds_) std::sort(kind.begin(), kind.end());
}

double NoiseBounds::without(uint32_t kind, uint32_t op) const {
  const std::vector<Bound>& bounds = kinds_[kind];
  for (auto i = static_cast<size_t>(kShareOfBounds * static_cast<double>(bounds.size())); i < bounds.size(); ++i) {
    if (bounds[i].op != op) return bounds[i].error;
  }
  return INFINITY;
}

}  // namespace msdump
