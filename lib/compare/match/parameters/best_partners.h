// Partners by distance: of all candidates the nearest ones, where no other is nearly as near to either of the two.
#pragma once

#include <cstdint>
#include <vector>

namespace msdump {

struct PartnerCandidate {
  uint32_t a = 0, b = 0;
  double distance = 0;
  double likeness = 0;  // decides between candidates at the same distance: of equal values each is right
  uint32_t tag = 0;     // the caller's
};

// Each a and each b at most once; in the order of distance.
[[nodiscard]] std::vector<PartnerCandidate> best_partners(std::vector<PartnerCandidate> candidates);

}  // namespace msdump
