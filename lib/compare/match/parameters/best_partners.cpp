#include "compare/match/parameters/best_partners.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace msdump {
namespace {

constexpr double kClearly = 2;  // times as far
constexpr double kEqual = 1e-9;

// Is the other one nearer, or nearly as near?
bool are_rivals(const PartnerCandidate& one, const PartnerCandidate& other) {
  return std::abs(other.distance - one.distance) > kEqual && other.distance < kClearly * one.distance;
}

}  // namespace

std::vector<PartnerCandidate> best_partners(std::vector<PartnerCandidate> candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const PartnerCandidate& x, const PartnerCandidate& y) {
    const double left = std::round(x.distance / kEqual), right = std::round(y.distance / kEqual);
    if (left != right) return left < right;
    if (x.likeness != y.likeness) return x.likeness > y.likeness;
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  std::unordered_map<uint32_t, std::vector<size_t>> of_a, of_b;
  for (size_t i = 0; i < candidates.size(); ++i) {
    of_a[candidates[i].a].push_back(i);
    of_b[candidates[i].b].push_back(i);
  }
  std::unordered_set<uint32_t> taken_a, taken_b;
  const auto is_free = [&](const PartnerCandidate& one) {
    return taken_a.count(one.a) == 0 && taken_b.count(one.b) == 0;
  };
  const auto has_rival = [&](const PartnerCandidate& one) {
    const auto among = [&](const std::vector<size_t>& others) {
      return std::any_of(others.begin(), others.end(),
                         [&](size_t i) { return is_free(candidates[i]) && are_rivals(one, candidates[i]); });
    };
    return among(of_a[one.a]) || among(of_b[one.b]);
  };
  std::vector<PartnerCandidate> partners;
  // What one round decides leaves fewer rivals for the next.
  for (bool more = true; more;) {
    more = false;
    for (const PartnerCandidate& one : candidates) {
      if (!is_free(one) || has_rival(one)) continue;
      taken_a.insert(one.a);
      taken_b.insert(one.b);
      partners.push_back(one);
      more = true;
    }
  }
  return partners;
}

}  // namespace msdump
