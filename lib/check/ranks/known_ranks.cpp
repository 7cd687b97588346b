#include "check/ranks/known_ranks.h"

#include <algorithm>
#include <string>

#include "check/ranks/collective_call.h"
#include "graph/flow/communication.h"

namespace msdump::check {
namespace {

constexpr size_t kRanksApart = 64;
constexpr int64_t kMostRanks = 100'000;

// A number far off is a name of another kind.
int64_t end_of_numbers(const std::set<int64_t>& there) {
  const int64_t last = *there.rbegin();
  return static_cast<size_t>(last) < 2 * there.size() + kRanksApart ? last : 0;
}

}  // namespace

KnownRanks known_ranks(const CheckedDump& dump) {
  KnownRanks ranks;
  for (const IndexedFolder& folder : dump.index().folders()) {
    if (folder.identity.rank && *folder.identity.rank >= 0) ranks.there.insert(*folder.identity.rank);
  }
  if (ranks.there.size() < 2) return ranks;
  const int64_t end = end_of_numbers(ranks.there);
  for (int64_t rank = 0; rank < end; ++rank) {
    if (!ranks.there.contains(rank)) ranks.holes.insert(rank);
  }
  std::set<std::string> groups;
  int64_t world = 0;
  for (const CollectiveCall& call : collective_calls(dump)) {
    groups.insert(call.group);
    if (call.world.value_or(0) <= kMostRanks) world = std::max(world, call.world.value_or(0));
  }
  const auto note = [&](int64_t rank) {
    if (rank >= 0 && !ranks.there.contains(rank) && !ranks.holes.contains(rank)) ranks.named.insert(rank);
  };
  for (const std::string& group : groups) {
    for (const int64_t rank : ranks_of_group(group)) note(rank);
  }
  for (int64_t rank = 0; rank < world; ++rank) note(rank);
  return ranks;
}

}  // namespace msdump::check
