#include "check/ranks/exchange.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/order.h"
#include "graph/flow/communication.h"

namespace msdump::check {
namespace {

using StepKey = std::pair<bool, int64_t>;  // known_first()

bool is_pairwise(CollectiveKind kind) { return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive; }

class Joiner {
 public:
  explicit Joiner(const std::vector<CollectiveCall>& calls) : calls_(calls) {}

  std::vector<Exchange> run() {
    std::map<Family, std::map<int64_t, std::vector<size_t>>> families;  // then by rank
    std::map<Link, std::pair<std::vector<size_t>, std::vector<size_t>>> links;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const CollectiveCall& call = calls_[i];
      if (is_pairwise(call.kind)) {
        add_to_link(i, links);
      } else {
        families[family_of(call)][call.rank].push_back(i);
      }
    }
    for (auto& [family, ranks] : families) join(ranks);
    for (auto& [link, sides] : links) join_pairs(sides.first, sides.second);
    return std::move(exchanges_);
  }

 private:
  // Step, kind, group, then the name of calls that are joined by it; the API of others, as each has its own counter.
  using Family = std::tuple<StepKey, CollectiveKind, std::string, std::string, uint32_t>;
  using Link = std::tuple<StepKey, int64_t, int64_t, int64_t, std::string>;  // from, to, tag, group

  Family family_of(const CollectiveCall& call) const {
    return {known_first(call.step), call.kind, call.group, call.name, call.counted ? 0 : call.occurrence};
  }

  void in_order(std::vector<size_t>& of_rank) const {
    std::sort(of_rank.begin(), of_rank.end(),
              [&](size_t a, size_t b) { return std::pair(calls_[a].number, a) < std::pair(calls_[b].number, b); });
  }

  void join(std::map<int64_t, std::vector<size_t>>& by_rank) {
    if (by_rank.size() < 2) return;
    const size_t count = by_rank.begin()->second.size();
    for (auto& [rank, calls] : by_rank) {
      if (calls.size() != count) return;  // nobody can tell which belong together
      in_order(calls);
    }
    const CollectiveCall& any = calls_[by_rank.begin()->second.front()];
    std::vector<int64_t> group = ranks_of_group(any.group);
    // All ranks, of which most are there: a number far off costs as much memory as it says.
    if (group.empty() && any.world && *any.world > 0 && static_cast<size_t>(*any.world) <= 2 * by_rank.size()) {
      group.resize(static_cast<size_t>(*any.world));
      std::iota(group.begin(), group.end(), int64_t{0});
    }
    const bool stated = !group.empty();
    if (std::set<int64_t>(group.begin(), group.end()).size() != group.size()) return;
    if (!stated) {
      for (const auto& [rank, calls] : by_rank) group.push_back(rank);
    }
    for (size_t i = 0; i < count; ++i) {
      Exchange exchange;
      exchange.kind = any.kind;
      exchange.stated = stated;
      for (const int64_t rank : group) {
        const auto found = by_rank.find(rank);
        if (found == by_rank.end()) {
          exchange.missing.push_back(rank);
          continue;
        }
        exchange.members.push_back(found->second[i]);
        exchange.ranks.push_back(rank);
      }
      exchanges_.push_back(std::move(exchange));
    }
  }

  void add_to_link(size_t index, std::map<Link, std::pair<std::vector<size_t>, std::vector<size_t>>>& links) const {
    const CollectiveCall& call = calls_[index];
    std::optional<int64_t> other = call.root;
    const std::vector<int64_t> group = ranks_of_group(call.group);
    if (!other && call.root_place && *call.root_place >= 0 && group.empty()) other = call.root_place;
    if (!other && call.root_place && *call.root_place >= 0 && static_cast<size_t>(*call.root_place) < group.size())
      other = group[static_cast<size_t>(*call.root_place)];
    if (!other) return;
    const bool sends = call.kind == CollectiveKind::kSend;
    auto& [from, to] =
        links[{known_first(call.step), sends ? call.rank : *other, sends ? *other : call.rank, call.tag, call.group}];
    (sends ? from : to).push_back(index);
  }

  void join_pairs(std::vector<size_t>& from, std::vector<size_t>& to) {
    // Two APIs have a counter each: the order of their calls is not known.
    const auto mixed = [&](const std::vector<size_t>& side) {
      return std::any_of(side.begin(), side.end(),
                         [&](size_t i) { return calls_[i].counted && calls_[i].name != calls_[side.front()].name; });
    };
    if (from.size() != to.size() || mixed(from) || mixed(to)) return;
    in_order(from);
    in_order(to);
    for (size_t i = 0; i < from.size(); ++i) {
      Exchange exchange;
      exchange.kind = CollectiveKind::kSend;
      exchange.stated = true;
      exchange.members = {from[i], to[i]};
      exchange.ranks = {calls_[from[i]].rank, calls_[to[i]].rank};
      exchanges_.push_back(std::move(exchange));
    }
  }

  const std::vector<CollectiveCall>& calls_;
  std::vector<Exchange> exchanges_;
};

}  // namespace

std::vector<Exchange> join_calls(const std::vector<CollectiveCall>& calls) { return Joiner(calls).run(); }

std::vector<uint32_t> JoinedCalls::tensors_of(const Exchange& exchange) const {
  std::vector<uint32_t> tensors;
  for (const size_t member : exchange.members) {
    tensors.insert(tensors.end(), calls[member].put.begin(), calls[member].put.end());
    tensors.insert(tensors.end(), calls[member].got.begin(), calls[member].got.end());
  }
  return tensors;
}

}  // namespace msdump::check
