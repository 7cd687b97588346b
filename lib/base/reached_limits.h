// ReachedLimits: the bounds on work and memory that a search hit, so that its answer may not be the one that it would give
// without them.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string_view>

namespace msdump {

struct ReachedLimit {
  std::string_view name;  // a stable word of the machine output
  uint64_t limit = 0;
  std::string_view effect;  // what was left out, as a sentence without its end
  auto operator<=>(const ReachedLimit&) const = default;
};
// Each once, by name. The order does not depend on which was hit first.
using ReachedLimits = std::set<ReachedLimit>;

}  // namespace msdump
