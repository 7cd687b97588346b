#include "graph/flow/gap_ancestors.h"

#include <algorithm>

#include "graph/flow/data_flow.h"

namespace msdump {

GapAncestors::GapAncestors(const OpGraph& graph, std::vector<bool> dumped)
    : graph_(graph), dumped_(std::move(dumped)), states_(graph.size(), State::kNew), ranges_(graph.size()) {}

std::span<const OpId> GapAncestors::of(OpId op) {
  std::vector<Visit> visits;
  if (states_[op] == State::kNew) visits.push_back(begin(op));
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.next == visit.producers.size()) {
      finish(visit);
      visits.pop_back();
      continue;
    }
    const OpId producer = visit.producers[visit.next++];
    if (states_[producer] == State::kNew) visits.push_back(begin(producer));
  }
  return found(op);
}

GapAncestors::Visit GapAncestors::begin(OpId op) {
  Visit visit;
  visit.op = op;
  states_[op] = State::kOpen;
  if (dumped_[op]) return visit;
  for (const InputEdge& edge : inputs_of(graph_, op)) {
    if (edge.from == InputEdge::From::kOperator) visit.producers.push_back(edge.op);
  }
  return visit;
}

void GapAncestors::finish(const Visit& visit) {
  states_[visit.op] = State::kDone;
  if (visit.producers.size() == 1 && states_[visit.producers.front()] == State::kDone) {
    ranges_[visit.op] = ranges_[visit.producers.front()];
    return;
  }
  std::vector<OpId> ancestors;
  if (dumped_[visit.op]) ancestors.push_back(visit.op);
  for (const OpId producer : visit.producers) {
    const std::span<const OpId> before = found(producer);
    ancestors.insert(ancestors.end(), before.begin(), before.end());
  }
  std::sort(ancestors.begin(), ancestors.end());
  ancestors.erase(std::unique(ancestors.begin(), ancestors.end()), ancestors.end());
  if (ancestors.size() > kMostAncestors) ancestors.erase(ancestors.begin(), ancestors.end() - kMostAncestors);
  const auto begin = static_cast<uint32_t>(all_.size());
  all_.insert(all_.end(), ancestors.begin(), ancestors.end());
  ranges_[visit.op] = {begin, static_cast<uint32_t>(all_.size())};
}

std::span<const OpId> GapAncestors::found(OpId op) const {
  const auto [begin, end] = ranges_[op];
  return {all_.data() + begin, end - begin};
}

}  // namespace msdump
