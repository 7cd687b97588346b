#include "divergence/root_list.h"

#include <random>
#include <set>

#include "support/catch.h"

namespace msdump {
namespace {

uint64_t count_by_hand(const std::vector<OpRun>& runs, const Collectives& collectives,
                       const std::vector<uint32_t>& counts, const std::vector<ExecutionId>& from) {
  std::set<ExecutionId> reached(from.begin(), from.end());
  std::vector<ExecutionId> work(reached.begin(), reached.end());
  uint64_t count = 0;
  while (!work.empty()) {
    const ExecutionId run = work.back();
    work.pop_back();
    count += counts[run];
    for (const auto& readers : {runs[run].readers, runs[run].later}) {
      for (const ExecutionId reader : readers) {
        std::vector<ExecutionId> all = {reader};
        if (collectives.at[reader] != kNoId) all = collectives.members[collectives.at[reader]];
        for (const ExecutionId one : all) {
          if (reached.insert(one).second) work.push_back(one);
        }
      }
    }
  }
  return count;
}

TEST_CASE(
    "what a run explains is what its readers and the other ranks of their groups lead to, also where edges lead back, "
    "of "
    "any number of roots") {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const auto size = static_cast<uint32_t>(1 + random() % 200);
    std::vector<OpRun> runs(size);
    std::vector<uint32_t> counts;
    std::vector<std::vector<ExecutionId>> from;  // a root may have several places
    Collectives collectives;
    collectives.members.resize(4);
    for (ExecutionId run{0}; run < size; ++run) {
      counts.push_back(static_cast<uint32_t>(random() % 3));
      const CollectiveId group(random() % 40);
      collectives.at.push_back(group < collectives.members.size() ? group : CollectiveId());
      if (group < collectives.members.size()) collectives.members[group].push_back(run);
      for (size_t edges = random() % 3; edges > 0; --edges) {
        // Mostly to later runs; in some rounds backward only.
        const ExecutionId reader(random() % size);
        auto& readers = random() % 4 == 0 ? runs[run].later : runs[run].readers;
        if (round % 3 == 2 ? reader < run : reader > run || random() % 20 == 0) readers.push_back(reader);
      }
      from.push_back({ExecutionId(random() % size)});
      if (run % 3 == 0) from.back().emplace_back(random() % size);
    }
    const std::vector<uint64_t> found = count_reached(runs, collectives, counts, from);
    for (size_t i = 0; i < from.size(); ++i) {
      INFO(round << ' ' << i);
      REQUIRE(found[i] == count_by_hand(runs, collectives, counts, from[i]));
    }
  }
  CHECK(count_reached({}, {}, {}, {}).empty());
}

}  // namespace
}  // namespace msdump
