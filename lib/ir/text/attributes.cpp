#include "ir/text/attributes.h"

#include <algorithm>

#include "ir/model/scan.h"

namespace msdump {
namespace {

std::string_view group_without_label(std::string_view first_key) {
  if (first_key == "instance name") return "instance";
  const bool strategy =
      first_key.find("strategy") != std::string_view::npos || first_key.find("_layout") != std::string_view::npos;
  return strategy ? "strategy" : "attrs";
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// True if one of the keys stands before a colon.
bool has_key(std::string_view text, const AttributeKeys& keys) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    size_t begin = colon;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    if (keys.contains(text.substr(begin, colon - begin))) return true;
  }
  return false;
}

void add_group(std::string_view label, std::string_view inside, std::vector<std::string_view>& items,
               std::vector<IrAttribute>& attributes) {
  split_at_commas(inside, Brackets::kValues, items);
  for (const std::string_view item : items) {
    IrAttribute attribute;
    const size_t colon = item.find(':');
    attribute.key = trim(item.substr(0, colon));
    if (colon != std::string_view::npos) attribute.value = trim(item.substr(colon + 1));
    if (label.empty()) label = group_without_label(attribute.key);
    attribute.group = label;
    attributes.push_back(attribute);
  }
}

}  // namespace

bool parse_attributes(std::string_view text, std::vector<IrAttribute>& attributes) {
  attributes.clear();
  std::vector<std::string_view> items;
  for (text = trim(text); !text.empty();) {
    const size_t open = text.find('{');
    if (open == std::string_view::npos) return false;
    std::string_view label = trim(text.substr(0, open));
    if (label.ends_with(':')) label = trim(label.substr(0, label.size() - 1));
    const size_t close = closing_bracket(text, open);
    const bool closed = close != std::string_view::npos;
    add_group(label, text.substr(open + 1, closed ? close - open - 1 : close), items, attributes);
    if (!closed) return false;
    text = trim_front(text.substr(close + 1));
  }
  return true;
}

std::string_view attribute_value(std::string_view text, std::string_view key) {
  if (text.find(key) == std::string_view::npos) return {};
  std::vector<IrAttribute> attributes;
  parse_attributes(text, attributes);
  for (const IrAttribute& attribute : attributes) {
    if (attribute.key != key) continue;
    const std::string_view value = attribute.value;
    const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
  }
  return {};
}

void select_attributes(std::string_view text, const AttributeKeys& keys, std::vector<IrAttribute>& attributes) {
  attributes.clear();
  if (keys.empty() || !has_key(text, keys)) return;
  parse_attributes(text, attributes);
  std::erase_if(attributes, [&](const IrAttribute& one) {
    const bool own = one.group == "attrs" || one.group == "primitive_attrs" || one.group == "cnode_attrs";
    return !own || !keys.contains(one.key);
  });
}

std::string only_attributes(std::string_view text, std::span<const std::string> keys) {
  std::string kept;
  const auto occurs = [&](const std::string& key) { return text.find(key) != std::string_view::npos; };
  if (std::none_of(keys.begin(), keys.end(), occurs)) return kept;
  std::vector<IrAttribute> attributes;
  parse_attributes(text, attributes);
  for (const IrAttribute& attribute : attributes) {
    if (std::find(keys.begin(), keys.end(), attribute.key) == keys.end()) continue;
    kept.append(kept.empty() ? "{" : ", ").append(attribute.key).append(": ").append(attribute.value);
  }
  return kept.empty() ? kept : kept + "}";
}

}  // namespace msdump
