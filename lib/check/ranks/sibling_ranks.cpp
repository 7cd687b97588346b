#include "check/ranks/sibling_ranks.h"

#include <algorithm>
#include <map>
#include <set>

#include "check/ranks/rank_values.h"

namespace msdump::check {

bool is_kept_tensor(const CheckedDump& dump, uint32_t tensor) {
  const NameFacts& name = dump.record(tensor).name;
  if (is_module_parameter(name)) return true;
  return dump.role(tensor) == TensorRole::kParameter && dump.is_kept_name(name.op_name);
}

std::vector<std::vector<int64_t>> sibling_ranks(const FactsReader& facts, const ReplicaTable& table,
                                                const std::function<bool(const ReplicaCell&)>& votes_for) {
  constexpr size_t kLeastVotes = 2;
  std::map<std::vector<int64_t>, size_t> votes;
  for (uint32_t row = 0; row < table.rows(); ++row) {
    const ReplicaCells first = table.steps_of(row).front();
    if (first.size() < 2 || !votes_for(first.front())) continue;
    for (const std::vector<size_t>& equal : equal_cells(first, facts)) {
      if (equal.size() < 2 || !is_telling(facts[first[equal.front()].tensor])) continue;
      std::vector<int64_t> ranks;
      for (const size_t cell : equal) ranks.push_back(first[cell].rank);
      ++votes[std::move(ranks)];
    }
  }
  std::vector<std::pair<size_t, const std::vector<int64_t>*>> classes;
  for (const auto& [ranks, count] : votes) {
    if (count >= kLeastVotes) classes.emplace_back(count, &ranks);
  }
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->size(), b.first) < std::pair(b.second->size(), a.first);
  });
  std::vector<std::vector<int64_t>> siblings;
  std::set<int64_t> taken;
  for (const auto& [count, ranks] : classes) {
    const bool free = std::none_of(ranks->begin(), ranks->end(), [&](int64_t rank) { return taken.count(rank) > 0; });
    if (!free) continue;
    taken.insert(ranks->begin(), ranks->end());
    siblings.push_back(*ranks);
  }
  std::sort(siblings.begin(), siblings.end());
  return siblings;
}

}  // namespace msdump::check
