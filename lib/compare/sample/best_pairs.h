// best_pairs(): pairs items of two sides one to one, the likest first.
#pragma once

#include <cstdint>
#include <vector>

namespace msdump {

struct RatedPair {
  double likeness = 0;  // from 0 to 1; equal up to 1e-9
  uint32_t a = 0, b = 0;
  double of_names = 0;  // similarity of the names, for pairs that are as like: of equal values each is right
  uint32_t tag = 0;     // the caller's
};

// Sorts pairs: the likest first, of equal ones those with similar names, then by a and b.
void sort_by_likeness(std::vector<RatedPair>& pairs);

// Each a and each b at most once. With `clearly`, leaves out a pair if another one of its a or b is nearly as like: which of
// the two is right would be a guess. A pair is clear again when the others got their partners.
[[nodiscard]] std::vector<RatedPair> best_pairs(std::vector<RatedPair> pairs, bool clearly = false);

}  // namespace msdump
