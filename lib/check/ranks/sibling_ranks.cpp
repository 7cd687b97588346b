#include "check/ranks/sibling_ranks.h"

#include <algorithm>
#include <map>
#include <set>

#include "check/ranks/rank_values.h"

namespace msdump::check {
namespace {

using Ranks = std::vector<int64_t>;
using Votes = std::map<Ranks, std::set<uint64_t>>;  // contents, as many operators may read the same parameter

constexpr size_t kLeastVotes = 2;
constexpr size_t kMostLarger = 64;  // classes that a class is compared with

// Is it a larger class without a few of its ranks? Shards cut a class into equal ones: the few have left.
bool is_remainder(const Ranks& ranks, const std::vector<const Ranks*>& larger) {
  return std::any_of(larger.begin(), larger.end(), [&](const Ranks* whole) {
    return whole->size() > ranks.size() && whole->size() < 2 * ranks.size() &&
           std::includes(whole->begin(), whole->end(), ranks.begin(), ranks.end());
  });
}

}  // namespace

bool is_kept_tensor(const CheckedDump& dump, uint32_t tensor) {
  const NameFacts& name = dump.record(tensor).name;
  if (is_module_parameter(name)) return true;
  return dump.role(tensor) == TensorRole::kParameter && dump.is_kept_name(name.op_name);
}

std::vector<std::vector<int64_t>> sibling_ranks(const FactsReader& facts, const ReplicaTable& table,
                                                const std::function<bool(const ReplicaCell&)>& votes_for) {
  Votes votes;
  for (uint32_t row = 0; row < table.rows(); ++row) {
    const ReplicaCells first = table.steps_of(row).front();
    if (first.size() < 2 || !votes_for(first.front())) continue;
    for (const std::vector<size_t>& equal : equal_cells(first, facts)) {
      const TensorFacts& like = facts[first[equal.front()].tensor];
      if (equal.size() < 2 || !is_telling(like)) continue;
      Ranks ranks;
      for (const size_t cell : equal) ranks.push_back(first[cell].rank);
      votes[std::move(ranks)].insert(like.digest);
    }
  }
  std::erase_if(votes, [](const auto& one) { return one.second.size() < kLeastVotes; });
  std::vector<const Votes::value_type*> classes;
  for (const auto& one : votes) classes.push_back(&one);
  std::stable_sort(classes.begin(), classes.end(), [](const auto* a, const auto* b) {
    return std::pair(a->first.size(), b->second.size()) < std::pair(b->first.size(), a->second.size());
  });
  std::map<int64_t, std::vector<const Ranks*>> with_rank;  // the largest first
  for (auto one = classes.rbegin(); one != classes.rend(); ++one) {
    for (const int64_t rank : (*one)->first) {
      if (with_rank[rank].size() < kMostLarger) with_rank[rank].push_back(&(*one)->first);
    }
  }
  std::vector<Ranks> siblings;
  std::set<int64_t> taken;
  for (const Votes::value_type* const one : classes) {
    const Ranks& ranks = one->first;
    const bool free = std::none_of(ranks.begin(), ranks.end(), [&](int64_t rank) { return taken.count(rank) > 0; });
    if (!free || is_remainder(ranks, with_rank[ranks.front()])) continue;
    taken.insert(ranks.begin(), ranks.end());
    siblings.push_back(ranks);
  }
  std::sort(siblings.begin(), siblings.end());
  return siblings;
}

}  // namespace msdump::check
