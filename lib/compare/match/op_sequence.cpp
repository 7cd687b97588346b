#include "compare/match/op_sequence.h"

#include <algorithm>

#include "base/hash_slots.h"
#include "base/text.h"
#include "compare/match/common_name.h"
#include "compare/match/sequence_flow.h"
#include "graph/name_table.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr size_t kCircles = 2;

// The shapes of the outputs without dimensions of 1; of the first step alone, so that the number of steps does not
// matter.
uint64_t shapes_of(const CompareSide& side, const SequencedOp& one) {
  uint64_t key = 1;
  std::optional<std::string_view> first_slot;
  for (const uint32_t index : one.tensors) {
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

}  // namespace

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
    kinds.push_back(mix_hash(mix_hash(name_hash(one.type), name_hash(name.full())), shapes_of(side, one)));
  }
  return kinds;
}

std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side, const std::vector<SequencedOp>& operators) {
  std::vector<uint64_t> types, scopes, common, shaped;
  for (auto* const level : {&types, &scopes, &common, &shaped}) level->reserve(operators.size());
  NormalName name;
  for (const SequencedOp& one : operators) {
    types.push_back(name_hash(one.type));
    name.assign(name_without_numbers(one.name));
    scopes.push_back(mix_hash(types.back(), name_hash(name.full())));
    // Modules are not the same just because their class is.
    if (const auto entry = parse_msprobe_entry(one.name); entry && entry->kind != MsprobeEntryKind::kCall)
      types.back() = scopes.back();
    common.push_back(name_hash(common_name(one.name)));
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

}  // namespace msdump
