#include "compare/match/replaced_ops.h"

#include <algorithm>
#include <map>

namespace msdump {
namespace {

// Readers of one tensor and inputs of one operator beyond this number are not looked at: their time is quadratic.
constexpr size_t kMostNeighbours = 64;
// A pair is a neighbour for the next round. Later rounds than this pair nothing in networks.
constexpr int kMostReplacingRounds = 16;

// How many neighbours two operators have in common.
struct Common {
  size_t producers = 0, readers = 0;
};

// The operator of `to` without a partner that has the place of `op` of `from`; kNoOperator if there is none, or several.
uint32_t in_place_of(const PairedSide& from, const PairedSide& to, uint32_t op, ReachedLimits& limits) {
  std::map<uint32_t, Common> found;
  bool has_more = false;
  for (const auto& [slot, producer] : from.flow.producers(op)) {
    const uint32_t partner = from.partners[producer];
    if (partner == kNoOperator) continue;
    if (to.flow.consumers(partner).size() > kMostNeighbours) {
      has_more = true;
      continue;
    }
    for (const uint32_t reader : to.flow.consumers(partner)) {
      if (to.partners[reader] == kNoOperator) ++found[reader].producers;
    }
  }
  for (const uint32_t reader : from.flow.consumers(op)) {
    const uint32_t partner = from.partners[reader];
    if (partner == kNoOperator) continue;
    if (to.flow.producers(partner).size() > kMostNeighbours) {
      has_more = true;
      continue;
    }
    for (const auto& [slot, producer] : to.flow.producers(partner)) {
      if (to.partners[producer] == kNoOperator) ++found[producer].readers;
    }
  }
  const bool is_first = from.flow.producers(op).empty(), is_last = from.flow.consumers(op).empty();
  uint32_t best = kNoOperator;
  size_t most = 0;
  for (const auto& [other, common] : found) {
    if (common.producers == 0 && !(is_first && to.flow.producers(other).empty())) continue;
    if (common.readers == 0 && !(is_last && to.flow.consumers(other).empty())) continue;
    const size_t both = common.producers + common.readers;
    if (both == most) best = kNoOperator;
    if (both > most) best = other;
    most = std::max(most, both);
  }
  if (has_more && best == kNoOperator) {
    limits.insert({"replaced_neighbours", kMostNeighbours,
                   "an operator in the place of another was not looked for among all readers of a tensor"});
  }
  return best;
}

}  // namespace

std::vector<uint32_t> pair_replaced(const PairedSide& a, const PairedSide& b, ReachedLimits& limits) {
  std::vector<uint32_t> left;
  for (uint32_t i = 0; i < a.partners.size(); ++i) {
    if (a.partners[i] == kNoOperator) left.push_back(i);
  }
  std::vector<uint32_t> replaced;
  for (int round = 0;; ++round) {
    if (round == kMostReplacingRounds) {
      limits.insert(
          {"replaced_rounds", kMostReplacingRounds,
           "operators in the place of others were looked for in so many rounds, and further ones might go on"});
      break;
    }
    const size_t paired = std::erase_if(left, [&](uint32_t op) {
      const uint32_t other = in_place_of(a, b, op, limits);
      if (other == kNoOperator || in_place_of(b, a, other, limits) != op) return false;
      a.partners[op] = other;
      b.partners[other] = op;
      replaced.push_back(op);
      return true;
    });
    if (paired == 0) break;
  }
  return replaced;
}

}  // namespace msdump
