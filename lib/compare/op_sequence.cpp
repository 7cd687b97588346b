#include "compare/op_sequence.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "compare/common_name.h"
#include "graph/data_flow.h"
#include "graph/name_table.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr size_t kCircles = 2;

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0xFF51'AFD7'ED55'8CCD;
  return hash ^ hash >> 32;
}

// Who makes the inputs of whom, among the operators of a sequence.
class Neighbours {
 public:
  Neighbours(const CompareSide& side, const std::vector<SequencedOp>& operators) {
    before_.resize(operators.size());
    after_.resize(operators.size());
    if (side.graph == nullptr) return;
    std::vector<uint32_t> place(side.graph->size(), kNoOperator);
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (operators[i].op != kNoIndex) place[operators[i].op] = i;
    }
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (operators[i].op == kNoIndex) continue;
      for (const InputEdge& edge : inputs_of(*side.graph, operators[i].op)) {
        if (edge.from != InputEdge::From::kOperator || place[edge.op] == kNoOperator) continue;
        before_[i].emplace_back(edge.slot, place[edge.op]);
        after_[place[edge.op]].push_back(i);
      }
    }
  }

  // The keys of one circle further out.
  [[nodiscard]] std::vector<uint64_t> widened(const std::vector<uint64_t>& keys) const {
    std::vector<uint64_t> wider(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      uint64_t key = keys[i], consumers = 0;
      for (const auto& [slot, producer] : before_[i]) key = mixed(mixed(key, slot + 1), keys[producer]);
      for (const uint32_t consumer : after_[i]) consumers += mixed(1, keys[consumer]);  // in any order
      wider[i] = mixed(key, consumers);
    }
    return wider;
  }

 private:
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> before_;
  std::vector<std::vector<uint32_t>> after_;
};

std::string name_of_group(const TensorGroup& group) { return std::string(group.op_name); }

void add_from_graph(const CompareSide& side, std::vector<SequencedOp>& operators, std::vector<bool>& taken) {
  const OpGraph& graph = *side.graph;
  const bool flow = has_flow(side);
  for (OpId op = 0; op < graph.size(); ++op) {
    if (!graph.has_kernel(op)) continue;
    if (!flow && side.join->pairs_of(op).empty()) continue;
    SequencedOp one;
    one.op = op;
    one.rank = graph.origin(op).rank;
    one.graph = graph.origin(op).graph_id;
    one.name = graph.full_name(op);
    one.type = graph.op_type(op);
    for (const JoinPair& pair : side.join->pairs_of(op)) {
      if (taken[pair.group]) continue;
      taken[pair.group] = true;
      for (const uint32_t tensor : side.join->tensors_of(side.join->groups()[pair.group]))
        one.tensors.push_back(tensor);
    }
    operators.push_back(std::move(one));
  }
}

void sort_by_first_tensor(std::vector<SequencedOp>& operators) {
  const auto first = [](const SequencedOp& one) {
    return one.tensors.empty() ? UINT32_MAX : *std::min_element(one.tensors.begin(), one.tensors.end());
  };
  std::stable_sort(operators.begin(), operators.end(),
                   [&](const SequencedOp& left, const SequencedOp& right) { return first(left) < first(right); });
}

// What comes out, without dimensions of 1: of the first step alone, so that a side with more steps has the same.
uint64_t shapes_of(const CompareSide& side, const SequencedOp& one) {
  uint64_t key = 1;
  std::optional<std::string_view> first_slot;
  for (const uint32_t index : one.tensors) {
    const TensorRecord& tensor = (*side.tensors)[index];
    if (tensor.name.io != Io::kOutput || tensor.shape == nullptr) continue;
    if (first_slot == tensor.name.slot) break;
    if (!first_slot) first_slot = tensor.name.slot;
    key = mixed(key, name_hash(tensor.name.slot));
    for (const int64_t dim : *tensor.shape) {
      if (dim != 1) key = mixed(key, static_cast<uint64_t>(dim));
    }
  }
  return key;
}

}  // namespace

bool has_flow(const CompareSide& side) {
  return side.graph != nullptr && side.join != nullptr &&
         std::any_of(side.graph->origins().begin(), side.graph->origins().end(),
                     [](const Origin& origin) { return origin.kind != OriginKind::kStackJson; });
}

std::string name_without_numbers(std::string_view name) {
  if (const auto numbered = split_number(name)) return std::string(numbered->prefix);
  std::string result;
  for (const std::string_view part : split(name, '.')) {
    if (is_digits(part)) continue;
    if (!result.empty()) result += '.';
    result += part;
  }
  return result;
}

std::vector<SequencedOp> operators_of(const CompareSide& side) {
  std::vector<SequencedOp> operators;
  if (side.join != nullptr) {
    std::vector<bool> taken(side.join->groups().size(), false);
    add_from_graph(side, operators, taken);
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i]) continue;
      const TensorGroup& group = side.join->groups()[i];
      SequencedOp one;
      one.rank = group.rank;
      one.graph = group.graph;
      one.name = name_of_group(group);
      one.type = group.op_type;
      for (const uint32_t tensor : side.join->tensors_of(group)) one.tensors.push_back(tensor);
      operators.push_back(std::move(one));
    }
    if (!has_flow(side)) sort_by_first_tensor(operators);
    return operators;
  }
  std::map<std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view, std::string_view>, size_t>
      known;
  for (uint32_t i = 0; i < side.tensors->size(); ++i) {
    const TensorRecord& tensor = (*side.tensors)[i];
    const FolderIdentity& folder = side.index->folders()[side.index->files()[tensor.file].folder].identity;
    const auto [at, added] =
        known.try_emplace({folder.rank, folder.graph, tensor.name.op_type, tensor.name.op_name}, operators.size());
    if (added) {
      SequencedOp one;
      one.rank = folder.rank;
      one.graph = folder.graph;
      one.name = tensor.name.op_name;
      one.type = tensor.name.op_type;
      operators.push_back(std::move(one));
    }
    operators[at->second].tensors.push_back(i);
  }
  return operators;
}

std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side, const std::vector<SequencedOp>& operators) {
  std::vector<uint64_t> types, scopes, common, shaped;
  NormalName name;
  for (const SequencedOp& one : operators) {
    types.push_back(name_hash(one.type));
    name.assign(name_without_numbers(one.name));
    scopes.push_back(mixed(types.back(), name_hash(name.full())));
    // Two modules of one class are not the same for that.
    if (const auto entry = parse_msprobe_entry(one.name); entry && entry->kind != MsprobeEntryKind::kCall)
      types.back() = scopes.back();
    common.push_back(name_hash(common_name(one.name)));
    shaped.push_back(mixed(scopes.back(), shapes_of(side, one)));
  }
  const Neighbours neighbours(side, operators);
  std::vector<std::vector<uint64_t>> levels(kCircles);
  std::vector<uint64_t> keys = std::move(shaped);
  for (size_t circle = 0; circle < kCircles; ++circle) {
    keys = neighbours.widened(keys);
    levels[kCircles - 1 - circle] = keys;
  }
  levels.push_back(std::move(scopes));
  levels.push_back(std::move(common));
  levels.push_back(std::move(types));
  return levels;
}

}  // namespace msdump
