// The attributes of an operator, as the line that defines it carries them:
//
//   [{instance name: X}] [primitive_attrs: {k: v, ..}] [cnode_attrs: {..}] [cnode_primal_attrs: {..}]
//   [{in_strategy: ..}]
//
// Up to 1.1 the attributes of the primitive have no label; up to 1.6 the strategy comes before the types. Values stay
// as printed: up to 1.10 without quotes around texts, from 2.2 as "text", Bool(1), I64(3). An empty value, a missing
// bracket and runs of blanks from a copy are accepted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace msdump {

struct IrAttribute {
  std::string_view group;  // "instance", "attrs" (no label), "primitive_attrs", "cnode_attrs", .., "strategy"
  std::string_view key, value;
};

// In the order of the text. False if a group is not closed, or something else stands between groups.
bool parse_attributes(std::string_view text, std::vector<IrAttribute>& attributes);

// The value of the first attribute with this key, without quotes around it; empty if there is none.
[[nodiscard]] std::string_view attribute_value(std::string_view text, std::string_view key);

// Only the attributes with these keys, as one group: "{unique_id: \"12\"}"; empty if there are none.
[[nodiscard]] std::string only_attributes(std::string_view text, std::span<const std::string> keys);

// Selects the attributes with these keys that belong to the primitive or the operator itself. Those of a strategy, an
// instance, or the operator that it was made from are left out. A text without any of the keys, the common case, is
// scanned only once.
using AttributeKeys = std::unordered_set<std::string_view>;
void select_attributes(std::string_view text, const AttributeKeys& keys, std::vector<IrAttribute>& attributes);

}  // namespace msdump
