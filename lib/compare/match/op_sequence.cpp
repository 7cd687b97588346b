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

// The dtype and shape of a numbered constant. 0 for anything else.
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
    return one.name.starts_with("Module.") || one.name.starts_with("Torch.");
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

}  // namespace msdump
