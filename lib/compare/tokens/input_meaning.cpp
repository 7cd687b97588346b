#include "compare/tokens/input_meaning.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

bool contains(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// The word that names a tensor: the keyword of its slot, else the last part of the operator's name that is neither a number nor
// "forward" or "backward".
std::string name_of_value(const NameFacts& name) {
  const std::vector<std::string_view> slot = split(name.slot, '.');
  for (auto part = slot.rbegin(); part != slot.rend(); ++part) {
    if (!part->empty() && !is_digits(*part)) return to_lower(*part);
  }
  const std::vector<std::string_view> parts = split(name.op_name, '.');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && !is_digits(*part) && *part != "forward" && *part != "backward") return to_lower(*part);
  }
  return {};
}

}  // namespace

bool is_whole(DType dtype) { return kind_of(dtype) == DTypeKind::kInteger || kind_of(dtype) == DTypeKind::kBool; }

bool can_be_input(const TensorRecord& record) {
  return !record.broken && record.shape != nullptr && !record.shape->empty() && record.shape->size() <= 2 &&
         is_whole(record.name.dtype) && (record.name.io == Io::kInput || record.name.io == Io::kOutput);
}

bool embeds_tokens(const NameFacts& name) {
  const std::string op = to_lower(name.op_name) + " " + to_lower(name.op_type);
  return contains(op, {"embed", "wte"}) && !contains(op, {"rotary", "position", "pos_emb", "type_emb", "wpe"});
}

Meaning meaning_of(const NameFacts& name) {
  const std::string text = name_of_value(name);
  if (contains(text, {"cu_seq", "query_start_loc", "qo_indptr"})) return Meaning::kCuts;
  if (contains(text, {"slot_mapping", "out_cache_loc"})) return Meaning::kSlots;
  if (contains(text, {"attention_mask", "attn_mask", "padding_mask"})) return Meaning::kMask;
  if (text == "req_pool_indices") return Meaning::kRequests;
  if (text == "seq_lens" || text == "seqlens" || text == "seq_len") return Meaning::kLengths;
  if (text.starts_with("position") || text == "pos_ids" || text == "cache_position") return Meaning::kPositions;
  if (contains(to_lower(name.op_type), {"rotary", "rope"}) || contains(text, {"rotary"})) return Meaning::kPositions;
  if (text == "input_ids" || text == "tokens" || text == "token_ids" || text == "ids") return Meaning::kIds;
  const bool is_first = name.slot == "0" || !is_digits(name.slot);
  if (name.io == Io::kInput && is_first && embeds_tokens(name)) return Meaning::kIds;
  return Meaning::kUnknown;
}

}  // namespace msdump
