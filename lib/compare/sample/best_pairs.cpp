#include "compare/sample/best_pairs.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/numbers.h"

namespace msdump {
namespace {

constexpr double kClearly = 4;  // ratio of two squared distances, which are 1 less the likeness

// True if `other` is liker, or nearly as like. Pairs that are as like are no rivals.
bool are_rivals(const RatedPair& one, const RatedPair& other) {
  return std::abs(other.likeness - one.likeness) > kNineDigits && 1 - other.likeness < kClearly * (1 - one.likeness);
}

}  // namespace

void sort_by_likeness(std::vector<RatedPair>& pairs) {
  const auto key = [](const RatedPair& one) {
    return std::tuple(-std::round(one.likeness / kNineDigits), -one.of_names, one.a, one.b);
  };
  std::sort(pairs.begin(), pairs.end(), [&](const RatedPair& x, const RatedPair& y) { return key(x) < key(y); });
}

std::vector<RatedPair> best_pairs(std::vector<RatedPair> pairs, bool clearly) {
  sort_by_likeness(pairs);
  std::unordered_map<uint32_t, std::vector<size_t>> of_a, of_b;
  for (size_t i = 0; clearly && i < pairs.size(); ++i) {
    of_a[pairs[i].a].push_back(i);
    of_b[pairs[i].b].push_back(i);
  }
  std::unordered_set<uint32_t> taken_a, taken_b;
  const auto is_free = [&](const RatedPair& one) { return !taken_a.contains(one.a) && !taken_b.contains(one.b); };
  const auto has_rival = [&](const RatedPair& one) {
    const auto among = [&](const std::vector<size_t>& others) {
      return std::any_of(others.begin(), others.end(),
                         [&](size_t i) { return is_free(pairs[i]) && are_rivals(one, pairs[i]); });
    };
    return among(of_a[one.a]) || among(of_b[one.b]);
  };
  std::vector<RatedPair> best;
  // Each round leaves fewer rivals for the next.
  for (bool more = true; more;) {
    more = false;
    for (const RatedPair& one : pairs) {
      if (!is_free(one) || (clearly && has_rival(one))) continue;
      taken_a.insert(one.a);
      taken_b.insert(one.b);
      best.push_back(one);
      more = clearly;
    }
  }
  return best;
}

}  // namespace msdump
