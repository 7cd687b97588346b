#include "divergence/root_reach.h"

#include "divergence/divergence.h"

namespace msdump {

RootReach::RootReach(const RunView& view, const std::vector<Divergence>& roots)
    : root_at_(view.runs().size(), kNoRoot), root_before_(view.runs().size(), kNoRoot) {
  const Collectives& collectives = view.collectives();
  std::vector<bool> spread(collectives.members.size());
  std::vector<uint32_t> work;
  for (uint32_t index = 0; index < roots.size(); ++index) {
    const Divergence& root = roots[index];
    const auto reach = [&](uint32_t run) {
      if (root_before_[run] != kNoRoot) return;
      root_before_[run] = index;
      work.push_back(run);
    };
    if (!enters(root)) {
      root_at_[root.run] = index;
      for (const DivergencePlace& other : root.places) root_at_[other.run] = index;
    } else if (!root.parameter.empty()) {
      for (const uint32_t run : view.graph().readers_of_parameter(root.parameter, root.place)) reach(run);
    }
    reach(root.run);
    if (root.reader != kNoRun) reach(root.reader);
    for (const DivergencePlace& other : root.places) reach(other.run);
    while (!work.empty()) {
      const uint32_t run = work.back();
      work.pop_back();
      for (const auto* const readers : {&view.run(run).readers, &view.run(run).later}) {
        for (const uint32_t reader : *readers) {
          reach(reader);
          const uint32_t group = collectives.at[reader];
          if (group == kNoRun || spread[group]) continue;
          spread[group] = true;
          for (const uint32_t member : collectives.members[group]) reach(member);
        }
      }
    }
  }
}

}  // namespace msdump
