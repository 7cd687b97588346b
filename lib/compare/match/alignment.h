// Aligns two sequences whose items are told apart by keys: which item of one is which of the other, both in order.
//
// Keys come in levels, the surest first (an operator with its neighbours; its type and scope; its type). At each level: equal
// beginnings and ends are paired; then items whose key is in both sequences exactly once, as many as are in order, are
// anchors; between two anchors the same again. What a level leaves is tried with the next. Gaps that are small enough get
// their longest common subsequence; larger ones stay open, and so do gaps nested very deep. n log n for n items.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace msdump {

struct AlignedPair {
  uint32_t a = 0, b = 0;
  uint32_t level = 0;  // of the keys that paired them
  bool operator==(const AlignedPair&) const = default;
};

// keys_a[level][item]; as many levels on both sides. Pairs in ascending order of both.
[[nodiscard]] std::vector<AlignedPair> align(const std::vector<std::vector<uint64_t>>& keys_a,
                                             const std::vector<std::vector<uint64_t>>& keys_b);

}  // namespace msdump
