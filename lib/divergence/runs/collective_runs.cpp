#include "divergence/runs/collective_runs.h"

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "graph/flow/communication.h"

namespace msdump {
namespace {

class GroupNames {
 public:
  explicit GroupNames(const RunFacts& facts) : facts_(facts) {
    add_arguments(facts.b());
    add_arguments(facts.a());
  }

  // Empty where nothing says it.
  [[nodiscard]] std::string of(uint32_t run) const {
    std::string group = by_ir(run);
    const auto call = of_calls_.find({facts_.name(run), facts_.place(run).rank, facts_.place(run).step});
    if (group.empty() && call != of_calls_.end()) group = call->second;
    return group;
  }

 private:
  struct Call {  // of one rank
    std::string_view name;
    std::optional<int64_t> rank, step;
    auto operator<=>(const Call&) const = default;
  };

  // Arguments of calls of one name as the reference spells it; the candidate's where that has none.
  void add_arguments(const CompareSide& side) {
    if (side.arguments == nullptr) return;
    for (const CallArgument& argument : *side.arguments) {
      const bool ranks = argument.value.kind == CallValue::Kind::kGroup;
      if (!ranks && (argument.value.kind != CallValue::Kind::kText || argument.slot != "group")) continue;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
      std::string group = ranks ? group_of_ranks(argument.value.text, folder.rank) : std::string(argument.value.text);
      if (!group.empty()) of_calls_.try_emplace({argument.op_name, folder.rank, folder.step}, std::move(group));
    }
  }

  [[nodiscard]] std::string by_ir(uint32_t run) const {
    const auto by = [&](const CompareSide& side, const std::vector<SequencedOp>& operators, uint32_t op) {
      if (op == kNoOperator || operators[op].op == kNoIndex || side.graph == nullptr) return std::string();
      const OpId id = operators[op].op;
      return group_of(side.graph->ir(id).text(side.graph->node(id).attributes), facts_.place(run).rank);
    };
    const Pairing& pairing = facts_.pairing();
    std::string group = by(facts_.b(), pairing.b, facts_.pair(run).b);
    return group.empty() ? by(facts_.a(), pairing.a, facts_.pair(run).a) : group;
  }

  const RunFacts& facts_;
  std::map<Call, std::string> of_calls_;
};

}  // namespace

CollectiveRuns collective_runs(const RunFacts& facts) {
  const GroupNames groups(facts);
  CollectiveRuns found;
  using Key = std::tuple<std::string_view, std::optional<int64_t>, std::string>;  // name, step, group
  std::map<Key, uint32_t> places;
  const auto place_of = [&](uint32_t run, const std::string& group) {
    const auto next = static_cast<uint32_t>(places.size());
    const auto [place, is_new] = places.try_emplace({facts.name(run), facts.place(run).step, group}, next);
    if (is_new) {
      found.collectives.members.emplace_back();
      found.inputs.emplace_back();
    }
    return place->second;
  };
  std::unordered_map<std::string_view, bool> types;
  found.collectives.at.assign(facts.runs().size(), kNoRun);
  for (uint32_t run = 0; run < facts.runs().size(); ++run) {
    const auto [type, is_new] = types.try_emplace(facts.op(run).type, false);
    if (is_new) type->second = is_communication(type->first);
    if (!type->second) continue;
    const uint32_t own = found.collectives.at[run] = place_of(run, groups.of(run));
    // A rank that does not name its group may be in any.
    for (const uint32_t one : std::set<uint32_t>{own, place_of(run, {})}) {
      found.collectives.members[one].push_back(run);
      for (const RunInput& input : facts.run(run).inputs) facts.add_to(found.inputs[one], input.tensor);
    }
  }
  return found;
}

}  // namespace msdump
