// Aligns two sequences of operators by their keys: which item of one is which of the other, both in order.
//
// Keys come in levels, most certain first (an operator with its neighbours; its type and scope; its type). At each
// level:
//   1. equal beginnings and ends are paired
//   2. items whose key occurs exactly once on each side, as many as are in order, are anchors; between two anchors the
//      same again
//   3. where there are no anchors: the longest common subsequence (common_subsequence.h)
// The next level tries what a level leaves unpaired. n log n for n items, except for rule 3.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reached_limits.h"

namespace msdump {

struct AlignedPair {
  uint32_t a = 0, b = 0;
  uint32_t level = 0;  // of the keys that paired them
  bool operator==(const AlignedPair&) const = default;
};

// keys_a[level][item]; as many levels on both sides. Pairs in ascending order of both. Adds the
// bounds that it hits to `limits`, which may be null.
[[nodiscard]] std::vector<AlignedPair> align(const std::vector<std::vector<uint64_t>>& keys_a,
                                             const std::vector<std::vector<uint64_t>>& keys_b,
                                             ReachedLimits* limits = nullptr);

}  // namespace msdump
