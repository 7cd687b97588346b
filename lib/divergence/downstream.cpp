#include "divergence/downstream.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace msdump {
namespace {

// By run: how many of its tensors differ. A tensor belongs to one run.
std::vector<uint32_t> differing_tensors(const RunView& view) {
  std::vector<uint32_t> counts(view.runs().size());
  std::vector<uint32_t> tensors;
  for (uint32_t run = 0; run < counts.size(); ++run) {
    tensors = view.run(run).outputs;
    for (const RunInput& input : view.run(run).inputs) tensors.push_back(input.tensor);
    std::erase_if(tensors, [&](uint32_t tensor) { return !view.differs(tensor); });
    std::sort(tensors.begin(), tensors.end());
    counts[run] = static_cast<uint32_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
  }
  return counts;
}

// Which of 64 roots reach a run, a bit each.
class Reach {
 public:
  Reach(const std::vector<OpRun>& runs, const Collectives& collectives)
      : runs_(runs), collectives_(collectives), reached_(runs.size()), exchanged_(collectives.members.size()) {}

  // Most runs come after those that they read: one pass forward is enough, plus one that finds nothing to do. Passes
  // backward follow edges that lead back.
  const std::vector<uint64_t>& from(std::span<const std::vector<uint32_t>> roots) {
    std::fill(reached_.begin(), reached_.end(), 0);
    std::fill(exchanged_.begin(), exchanged_.end(), 0);
    for (size_t root = 0; root < roots.size(); ++root) {
      for (const uint32_t run : roots[root]) reached_[run] |= uint64_t{1} << root;
    }
    const auto count = static_cast<uint32_t>(reached_.size());
    for (bool forward = true, changed = true; changed; forward = !forward) {
      changed = false;
      for (uint32_t i = 0; i < count; ++i) changed = pass_on(forward ? i : count - 1 - i, forward) || changed;
    }
    return reached_;
  }

 private:
  // Has a run changed that this pass has already visited?
  bool pass_on(uint32_t run, bool forward) {
    bool visited = false;
    if (reached_[run] == 0) return visited;
    const auto pass_to = [&](uint32_t reader) {
      const uint64_t news = reached_[run] & ~reached_[reader];
      reached_[reader] |= news;
      visited = visited || (news != 0 && (reader < run) == forward);
    };
    for (const auto* const readers : {&runs_[run].readers, &runs_[run].later}) {
      for (const uint32_t reader : *readers) {
        pass_to(reader);
        const uint32_t group = collectives_.at[reader];
        if (group == kNoRun || (reached_[run] & ~exchanged_[group]) == 0) continue;
        exchanged_[group] |= reached_[run];
        for (const uint32_t member : collectives_.members[group]) pass_to(member);
      }
    }
    return visited;
  }

  const std::vector<OpRun>& runs_;
  const Collectives& collectives_;
  std::vector<uint64_t> reached_;    // by run
  std::vector<uint64_t> exchanged_;  // by collective operation: what has reached all members
};

}  // namespace

std::vector<uint64_t> count_downstream(const RunView& view, const std::vector<std::vector<uint32_t>>& from) {
  if (from.empty()) return {};
  const std::vector<uint32_t> counts = differing_tensors(view);
  if (view.graph().flow() == FlowKind::kIr) return count_reached(view.runs(), view.collectives(), counts, from);
  std::vector<uint64_t> later(counts.begin(), counts.end());
  std::partial_sum(later.rbegin(), later.rend(), later.rbegin());
  std::vector<uint64_t> result;
  for (const auto& runs : from) result.push_back(later[*std::min_element(runs.begin(), runs.end())]);
  return result;
}

std::vector<uint64_t> count_reached(const std::vector<OpRun>& runs, const Collectives& collectives,
                                    const std::vector<uint32_t>& counts,
                                    const std::vector<std::vector<uint32_t>>& from) {
  constexpr size_t kAtOnce = 64;
  std::vector<uint64_t> result(from.size(), 0);
  Reach reach(runs, collectives);
  for (size_t first = 0; first < from.size(); first += kAtOnce) {
    const size_t end = std::min(first + kAtOnce, from.size());
    const std::vector<uint64_t>& reached = reach.from({from.data() + first, end - first});
    for (size_t run = 0; run < counts.size(); ++run) {
      if (counts[run] == 0) continue;
      for (uint64_t bits = reached[run]; bits != 0; bits &= bits - 1)
        result[first + static_cast<size_t>(std::countr_zero(bits))] += counts[run];
    }
  }
  return result;
}

}  // namespace msdump
