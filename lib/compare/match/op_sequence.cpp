#include "compare/match/op_sequence.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/containers.h"
#include "base/text.h"
#include "graph/flow/data_flow.h"
#include "graph/op_graph.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr size_t kCircles = 2;

// A hash of the output shapes without dimensions of 1, of the first step alone: the number of steps must not matter.
uint64_t shapes_of(const CompareSide& side, const SequencedOp& one) {
  uint64_t key = 1;
  std::optional<std::string_view> first_slot;
  for (const RecordId index : one.tensors) {
    const TensorRecord& tensor = (*side.tensors)[index];
    if (tensor.name.io != Io::kOutput || tensor.shape == nullptr) continue;
    if (first_slot == tensor.name.slot) break;
    if (!first_slot) first_slot = tensor.name.slot;
    key = mix_hash(key, name_hash(tensor.name.slot));
    for (const int64_t dim : *tensor.shape) {
      if (dim != 1) key = mix_hash(key, static_cast<uint64_t>(dim));
    }
  }
  return key;
}

// A hash of the dtype and shape of a numbered constant; 0 for any other operator.
uint64_t key_of_constant(const CompareSide& side, const SequencedOp& one) {
  if (!is_numbered_constant(one) || one.tensors.empty()) return 0;
  const TensorRecord& tensor = (*side.tensors)[one.tensors.front()];
  uint64_t key = mix_hash(1, static_cast<uint64_t>(tensor.name.dtype));
  if (tensor.shape == nullptr) return mix_hash(key, tensor.bytes.value_or(0));  // its header was not read
  for (const int64_t dim : *tensor.shape) key = mix_hash(key, static_cast<uint64_t>(dim));
  return key;
}

}  // namespace

bool is_numbered_constant(const SequencedOp& one) {
  constexpr std::string_view kData = "data-";
  const std::string_view name = one.name;
  return one.type == "Parameter" && name.starts_with(kData) && is_digits(name.substr(kData.size()));
}

bool is_pytorch(const std::vector<SequencedOp>& operators) {
  return std::any_of(operators.begin(), operators.end(), [](const SequencedOp& one) {
    return one.name.view().starts_with("Module.") || one.name.view().starts_with("Torch.");
  });
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

std::vector<uint64_t> kinds_of(const CompareSide& side, const std::vector<SequencedOp>& operators) {
  std::vector<uint64_t> kinds;
  kinds.reserve(operators.size());
  NormalName name;
  for (const SequencedOp& one : operators) {
    name.assign(name_without_numbers(one.name));
    const uint64_t type = mix_hash(name_hash(one.type), key_of_constant(side, one));
    kinds.push_back(mix_hash(mix_hash(type, name_hash(name.full())), shapes_of(side, one)));
  }
  return kinds;
}

std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side, const std::vector<SequencedOp>& operators) {
  std::vector<uint64_t> types, scopes, common, shaped;
  for (auto* const level : {&types, &scopes, &common, &shaped}) level->reserve(operators.size());
  NormalName name;
  for (const SequencedOp& one : operators) {
    types.push_back(mix_hash(name_hash(one.type), key_of_constant(side, one)));
    name.assign(name_without_numbers(one.name));
    scopes.push_back(mix_hash(types.back(), name_hash(name.full())));
    // Modules are not the same just because their class is.
    if (const auto entry = parse_msprobe_entry(one.name); entry && entry->kind != MsprobeEntryKind::kCall)
      types.back() = scopes.back();
    common.push_back(mix_hash(name_hash(common_name(one.name)), key_of_constant(side, one)));
    shaped.push_back(mix_hash(scopes.back(), shapes_of(side, one)));
  }
  const SequenceFlow flow(side, operators);
  std::vector<std::vector<uint64_t>> levels(kCircles);
  std::vector<uint64_t> keys = std::move(shaped);
  for (size_t circle = 0; circle < kCircles; ++circle) {
    keys = flow.with_neighbours(keys);
    levels[kCircles - 1 - circle] = keys;
  }
  levels.push_back(std::move(scopes));
  levels.push_back(std::move(common));
  levels.push_back(std::move(types));
  return levels;
}

namespace {

constexpr size_t kOfScopes = kCircles;  // the level of types and scopes

using Places = std::map<uint64_t, std::vector<size_t>>;

// The places of each key but 0.
Places places_of(const std::vector<uint64_t>& keys) {
  Places places;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != 0) places[keys[i]].push_back(i);
  }
  return places;
}

std::vector<uint64_t> sorted_keys(const std::vector<uint64_t>& keys, const std::vector<size_t>& places) {
  std::vector<uint64_t> chosen;
  for (const size_t place : places) chosen.push_back(keys[place]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

// A module is recorded when it ends.
std::vector<uint64_t> modules_of(const std::vector<const SequencedOp*>& operators) {
  std::vector<uint64_t> modules(operators.size());
  uint64_t module = 0;
  for (size_t i = operators.size(); i-- > 0;) {
    const auto entry = parse_msprobe_entry(operators[i]->name);
    if (!entry) continue;
    // The number at the end counts the calls of the module.
    if (entry->kind == MsprobeEntryKind::kModule) {
      const std::string_view name = operators[i]->name;
      module = name_hash(name.substr(0, name.rfind('.')));
    }
    modules[i] = module;
  }
  return modules;
}

PlacePairs pair_by_modules(CallSequence& a, CallSequence& b) {
  constexpr size_t kShaped = kCircles - 1;
  PlacePairs pairs;
  const auto set = [&](size_t in_a, size_t in_b, uint64_t key) {
    for (size_t level = 0; level < kCircles; ++level) a.keys[level][in_a] = b.keys[level][in_b] = key;
  };
  const auto for_groups = [](const Places& groups_a, const Places& groups_b, const auto& visit) {
    for (const auto& [key, in_a] : groups_a) {
      const auto in_b = groups_b.find(key);
      if (in_b != groups_b.end() && in_b->second.size() == in_a.size()) visit(key, in_a, in_b->second);
    }
  };
  const auto have_same_shapes = [&](const std::vector<size_t>& in_a, const std::vector<size_t>& in_b) {
    return sorted_keys(a.keys[kShaped], in_a) == sorted_keys(b.keys[kShaped], in_b);
  };
  std::vector<uint64_t> scopes_a = a.keys[kOfScopes], scopes_b = b.keys[kOfScopes];  // 0: paired
  const auto pair_in_order = [&](uint64_t key, const std::vector<size_t>& in_a, const std::vector<size_t>& in_b) {
    for (size_t i = 0; i < in_a.size(); ++i) {
      pairs.emplace_back(in_a[i], in_b[i]);
      set(in_a[i], in_b[i], mix_hash(key, i + 1));
      scopes_a[in_a[i]] = scopes_b[in_b[i]] = 0;
    }
  };
  // The places without a partner, by scope and by a key of their own; those with the key 0 have none.
  const auto left_by = [](const std::vector<uint64_t>& own_keys, const std::vector<uint64_t>& scopes) {
    std::vector<uint64_t> keys(scopes.size(), 0);
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = scopes[i] == 0 || own_keys[i] == 0 ? 0 : mix_hash(own_keys[i], scopes[i]);
    return places_of(keys);
  };
  const std::vector<uint64_t> modules_a = modules_of(a.operators), modules_b = modules_of(b.operators);
  const auto in_modules = [](std::vector<uint64_t> codes, const std::vector<uint64_t>& modules) {
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = codes[i] == 0 ? 0 : mix_hash(modules[i], codes[i]);
    return codes;
  };
  for_groups(left_by(in_modules(a.codes, modules_a), scopes_a), left_by(in_modules(b.codes, modules_b), scopes_b),
             pair_in_order);
  for_groups(left_by(modules_a, scopes_a), left_by(modules_b, scopes_b),
             [&](uint64_t key, const std::vector<size_t>& in_a, const std::vector<size_t>& in_b) {
               // Calls of a module in another order are told by their shapes.
               if (in_a.size() == 1 || !have_same_shapes(in_a, in_b)) pair_in_order(key, in_a, in_b);
             });
  for_groups(places_of(scopes_a), places_of(scopes_b),
             [&](uint64_t key, const std::vector<size_t>& in_a, const std::vector<size_t>& in_b) {
               if (have_same_shapes(in_a, in_b)) return;
               for (size_t i = 0; i < in_a.size(); ++i) set(in_a[i], in_b[i], mix_hash(key, i + 1));
             });
  return pairs;
}

namespace {

// "Cell.attn.q.Dense.forward.0" without its first part, its class and its number.
std::string module_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  const auto direction = std::find_if(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "forward" || part == "backward" || part == "parameters_grad";
  });
  std::string result = "module";
  const size_t end = static_cast<size_t>(direction - parts.begin());
  for (size_t i = 1; i + 1 < end; ++i) (result += ' ').append(parts[i]);
  if (direction != parts.end()) (result += ' ').append(*direction);
  return result;
}

std::string call_name(std::string_view name, std::string_view op_type) {
  std::string type = to_lower(op_type);
  std::erase(type, '_');
  return "call " + type + (name.ends_with(".backward") ? " backward" : " forward");
}

}  // namespace

std::string common_name(std::string_view op_name) {
  const auto entry = parse_msprobe_entry(op_name);
  if (!entry || entry->kind == MsprobeEntryKind::kDebug) return name_without_numbers(op_name);
  return entry->kind == MsprobeEntryKind::kCall ? call_name(op_name, entry->op_type) : module_name(op_name);
}

std::string_view common_parameter_name(std::string_view parameter) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames = {
      std::pair<std::string_view, std::string_view>{"gamma", "weight"},
      {"beta", "bias"},
      {"embedding_table", "weight"},
      {"moving_mean", "running_mean"},
      {"moving_variance", "running_var"}};
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == parameter; });
  return found == kNames.end() ? parameter : found->second;
}

SequenceFlow::SequenceFlow(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators)
    : known_(has_flow(dump)) {
  if (dump.graph == nullptr) return;
  std::vector<SequencedOpId> place(dump.graph->size());
  for (SequencedOpId i{0}; i < operators.size(); ++i) {
    if (operators[i].op != kNoId) place[operators[i].op] = i;
  }
  for (SequencedOpId i{0}; i < operators.size(); ++i) {
    first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
    first_parameter_.push_back(static_cast<uint32_t>(parameters_.size()));
    if (operators[i].op == kNoId) continue;
    const IrGraph& ir = dump.graph->ir(operators[i].op);
    for (const InputEdge& edge : inputs_of(*dump.graph, operators[i].op)) {
      if (edge.from == InputEdge::From::kParameter)
        parameters_.push_back({edge.slot, text_hash(ir.text(ir.parameters[edge.parameter].name)),
                               is_kept(ir, ir.parameters[edge.parameter])});
      if (edge.from != InputEdge::From::kOperator || place[edge.op] == kNoId) continue;
      producers_.push_back({edge.slot, place[edge.op]});
    }
  }
  first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
  first_parameter_.push_back(static_cast<uint32_t>(parameters_.size()));
  consumers_ = EdgeLists<SequencedOpId>(operators.size(), [&](auto&& visit) {
    for (SequencedOpId i{0}; i < operators.size(); ++i) {
      for (uint32_t at = first_producer_[i]; at < first_producer_[i + 1]; ++at) visit(producers_[at].op, i);
    }
  });
}

std::vector<uint64_t> SequenceFlow::with_neighbours(const std::vector<uint64_t>& keys) const {
  std::vector<uint64_t> wider(keys.size());
  for (SequencedOpId i{0}; i < keys.size(); ++i) {
    uint64_t key = keys[i], readers = 0;
    for (const auto& [slot, producer] : producers(i)) key = mix_hash(mix_hash(key, slot + 1), keys[producer]);
    for (const SequencedOpId consumer : consumers(i)) readers += mix_hash(1, keys[consumer]);
    wider[i] = mix_hash(key, readers);
  }
  return wider;
}

}  // namespace msdump
