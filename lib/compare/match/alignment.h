// common_subsequence(): the longest common subsequence of two sequences of keys. It uses Myers' greedy search (An O(ND)
// difference algorithm, 1986), from the ends towards the beginnings.
//
//   1. keys that only one sequence has are left out first: they pair with nothing
//   2. row d holds, for each diagonal, how far d edits reach; the first row that reaches the beginnings ends the search,
//      and the pairs follow from the rows. Where several subsequences are longest, keys of `b` are skipped last
//   3. a search that fills kMostCells + 4 (n + m) cells stops: what the furthest diagonal reaches is paired, and the next
//      search begins there. Up to 1024 keys a side, and whenever few keys differ, one search is enough and the result
//      exact
//   4. after kMostSearches searches the rest stays unpaired
// Time (n + m) x edits, at most kMostSearches times the cells of a search; memory n + m and these cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/containers.h"

namespace msdump {

inline constexpr size_t kMostCells = size_t{1} << 21, kMostSearches = 64;

// Pairs of indices in a and b, ascending on both sides. Sets `bounded`, if it is not null, when one search was not enough.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> common_subsequence(std::span<const uint64_t> a,
                                                                            std::span<const uint64_t> b,
                                                                            bool* bounded = nullptr);

// align(): pairs the items of two sequences of operators by their keys, in the order of both.
//
// Keys come in levels, the most certain first: an operator with its neighbours; its type and scope; its type. At each level:
//   1. equal beginnings and ends are paired
//   2. items whose key occurs once on each side are anchors, as many as are in order; rules 1 to 3 apply between two anchors
//   3. without anchors, the longest common subsequence is paired
//
// The next level gets what a level leaves unpaired. Time is n log n for n items, except for rule 3.

struct AlignedPair {
  uint32_t a = 0, b = 0;
  uint32_t level = 0;  // index of the keys that paired them
  bool operator==(const AlignedPair&) const = default;
};

// keys_a[level][item], with as many levels on both sides. Returns pairs in ascending order of both sides. Adds the bounds
// that it hits to `limits`, which may be null.
[[nodiscard]] std::vector<AlignedPair> align(const std::vector<std::vector<uint64_t>>& keys_a,
                                             const std::vector<std::vector<uint64_t>>& keys_b,
                                             ReachedLimits* limits = nullptr);

}  // namespace msdump
