#include "compare/match/device/device_name.h"

#include <set>
#include <string_view>

#include "base/text.h"
#include "ge/operators/operator_table.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr std::string_view kFusion = "FusionOp_";

// The name without the prefix of CANN's pass: "Default_a_MatMul" of "FusedX_0_Default_a_MatMul".
std::string_view without_pass(std::string_view name) {
  while (name.starts_with('_') || name.starts_with('/')) name.remove_prefix(1);
  const size_t type_end = name.find('_');
  if (type_end == std::string_view::npos || name.starts_with("Default") || name.starts_with("Gradients")) return name;
  const size_t number_end = name.find('_', type_end + 1);
  if (number_end == std::string_view::npos || !is_digits(name.substr(type_end + 1, number_end - type_end - 1)))
    return name;
  return name.substr(number_end + 1);
}

// Adds the operators of one part of a name. `name` has no number any more.
void add_originals(std::string_view name, uint64_t number, std::vector<OriginalName>& originals) {
  name = without_pass(name);
  if (const size_t fusion = name.rfind(kFusion); fusion != std::string_view::npos) {
    const std::string scope = normalised_op_name(name.substr(0, fusion == 0 ? 0 : fusion - 1));
    for (const std::string_view type : split(name.substr(fusion + kFusion.size()), '_')) {
      if (!type.empty()) originals.push_back({scope, std::string(type), number});
    }
    return;
  }
  size_t cut = name.rfind('/');
  if (cut == std::string_view::npos) cut = name.rfind('_');
  const bool bare = cut == std::string_view::npos;
  const std::string_view type = bare ? name : name.substr(cut + 1);
  if (!type.empty())
    originals.push_back({bare ? std::string() : normalised_op_name(name.substr(0, cut)), std::string(type), number});
}

// "Default" of "Default/a/ReLU-op3": all names of a network begin with the same word, or with that of gradients.
std::string_view root_of(std::string_view name) { return name.substr(0, name.find_first_of("/_")); }

// The begin of the next name in "_UpdateDefault/a/ReLU-op3"; 0 if unknown.
size_t next_name(std::string_view piece, std::string_view root) {
  size_t best = std::string_view::npos;
  for (const std::string_view one : {root, std::string_view("Default"), std::string_view("Gradients")}) {
    if (one.empty()) continue;
    for (size_t at = piece.find(one); at != std::string_view::npos; at = piece.find(one, at + 1)) {
      const size_t end = at + one.size();
      if (end == piece.size() || (piece[end] != '/' && piece[end] != '_')) continue;
      best = std::min(best, at);
      break;
    }
  }
  return best == std::string_view::npos ? 0 : best;
}

}  // namespace

DeviceName parse_device_name(std::string_view name) {
  DeviceName result;
  std::string_view root;
  size_t begin = 0;
  for (const size_t end : number_ends(name)) {
    std::string_view piece = name.substr(begin, end - begin);
    if (const size_t cut = result.originals.empty() ? 0 : next_name(piece, root); cut > 0) {
      const std::string_view between = piece.substr(0, cut);
      result.originals.back().is_part = between.size() > 1;
      piece.remove_prefix(cut);
    }
    const auto numbered = split_number(piece);
    if (numbered) {  // "-op12_3" ends twice
      add_originals(numbered->prefix, numbered->number, result.originals);
      root = root_of(piece);
    }
    begin = end;
  }
  result.is_part = begin < name.size();
  return result;
}

bool names_several(std::string_view name) {
  const bool may = name.find(kNumberMark) != name.rfind(kNumberMark) || name.find(kFusion) != std::string_view::npos;
  return may && parse_device_name(name).originals.size() > 1;
}

DeviceSigns device_signs(const std::vector<SequencedOp>& operators) {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  std::set<std::string_view> types;
  for (const SequencedOp& one : operators) {
    if (one.tensors.empty()) continue;
    if (one.type == "TransData" || names_several(one.name)) return DeviceSigns::kCertain;
    if (table.is_of_device(one.type)) types.insert(one.type);
  }
  return types.size() > 2 ? DeviceSigns::kTypes : DeviceSigns::kNone;
}

}  // namespace msdump
