#include "compare/match/msprobe/msprobe_layers.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_scopes.h"

namespace msdump {
namespace {

constexpr std::string_view kTopLayer = "TopLayer", kNoPartner = "N/A";

// A layer: what is called in it, by direction, and the layers in it.
struct Layer {
  std::string type;  // its class, once something of that name has been called; else its name
  std::map<std::string, std::vector<size_t>> entries;
  std::map<std::string, std::unique_ptr<Layer>, std::less<>> children;
};

class LayerTree {
 public:
  explicit LayerTree(const std::vector<MsprobeScope>& scopes) {
    root_.type = kTopLayer;
    for (size_t i = 0; i < scopes.size(); ++i) {
      Layer* layer = &root_;
      const auto parts = split(scopes[i].scope, '.');
      for (size_t part = 1; part < parts.size(); ++part) {
        auto& child = layer->children[std::string(parts[part])];
        if (!child) {
          child = std::make_unique<Layer>();
          child->type = parts[part];
        }
        layer = child.get();
      }
      layer->entries[scopes[i].state].push_back(i);
      layer->type = scopes[i].type;
    }
  }

  [[nodiscard]] const Layer& root() const { return root_; }

  [[nodiscard]] std::optional<size_t> find(const std::vector<std::string>& path, const std::string& state,
                                           size_t place) const {
    const Layer* layer = &root_;
    for (const std::string& part : path) {
      const auto child = layer->children.find(part);
      if (child == layer->children.end()) return std::nullopt;
      layer = child->second.get();
    }
    const auto entries = layer->entries.find(state);
    if (entries == layer->entries.end() || place >= entries->second.size()) return std::nullopt;
    return entries->second[place];
  }

 private:
  Layer root_;
};

// The longest rule for what lies at parts[at..] of a layer of that class.
const MsprobeLayerRule* rule_for(const MsprobeLayerRules& rules, const std::string& type,
                                 const std::vector<std::string_view>& parts, size_t at) {
  const auto of_type = rules.find(type);
  if (of_type == rules.end()) return nullptr;
  const auto of_child = of_type->second.find(std::string(parts[at]));
  if (of_child == of_type->second.end()) return nullptr;
  for (const MsprobeLayerRule& rule : of_child->second) {
    std::string path;
    for (size_t i = at; i < std::min(at + rule.parts, parts.size()); ++i) {
      if (i > at) path += '.';
      path += parts[i];
    }
    if (path == rule.from) return &rule;
  }
  return nullptr;
}

// The golden entry of a target's.
std::optional<size_t> partner_of(size_t entry, const std::vector<MsprobeScope>& scopes, const LayerTree& target,
                                 const LayerTree& golden, const MsprobeLayerRules& rules) {
  const auto parts = split(scopes[entry].scope, '.');
  std::vector<std::string> path;
  const Layer* layer = &target.root();
  for (size_t at = 1; at < parts.size();) {
    const MsprobeLayerRule* rule = rule_for(rules, layer->type, parts, at);
    const size_t steps = rule == nullptr ? 1 : rule->parts;
    for (const std::string_view part : split(rule == nullptr ? parts[at] : std::string_view(rule->to), '.')) {
      path.emplace_back(part);
    }
    for (const size_t end = at + steps; at < end; ++at) layer = layer->children.find(parts[at])->second.get();
  }
  const std::string& state = scopes[entry].state;
  const std::vector<size_t>& calls = layer->entries.at(state);
  const auto place = static_cast<size_t>(std::find(calls.begin(), calls.end(), entry) - calls.begin());
  return golden.find(path, state, place);
}

// Items by their entry.
std::vector<std::vector<const MsprobeItem*>> by_entry(const MsprobeItems& items) {
  std::vector<std::vector<const MsprobeItem*>> result(items.entries.size());
  for (const MsprobeItem& item : items.items) result[item.entry].push_back(&item);
  return result;
}

std::string behind(const std::string& name, const std::string& entry) {
  return name.size() < entry.size() ? "" : name.substr(entry.size());
}

}  // namespace

Result<MsprobeLayerRules> read_layer_rules(const JsonValue& yaml) {
  if (!yaml.is(JsonKind::kObject)) return fail(ErrorCode::kUsage, "expected 'Class: {{layer: layer}}'");
  MsprobeLayerRules rules;
  for (const JsonMember& member : yaml.members) {
    if (!member.value.is(JsonKind::kObject)) {
      return fail(ErrorCode::kUsage, "'{}' has no 'layer: layer' lines", excerpt(member.key));
    }
    auto& of_type = rules[std::string(member.key == "Cell" ? kTopLayer : std::string_view(member.key))];
    of_type.clear();
    for (const JsonMember& rule : member.value.members) {
      if (!rule.value.is(JsonKind::kString)) {
        return fail(ErrorCode::kUsage, "'{}' is mapped to no layer", excerpt(rule.key));
      }
      const auto parts = split(rule.key, '.');
      const std::string to = rule.value.text.substr(0, rule.value.text.find('('));
      of_type[std::string(parts[0])].push_back({rule.key, to, parts.size()});
    }
    for (auto& [first, list] : of_type) {
      std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.parts > b.parts; });
    }
  }
  return rules;
}

Result<std::unordered_map<std::string, std::string>> msprobe_layer_mapping(const MsprobeLayerSide& target,
                                                                           const MsprobeLayerSide& golden,
                                                                           const MsprobeLayerRules& rules) {
  std::unordered_map<std::string, std::string> mapping;
  MSDUMP_TRY(const auto scopes, msprobe_scopes(target));
  MSDUMP_TRY(const auto golden_scopes, msprobe_scopes(golden));
  const LayerTree tree(scopes), golden_tree(golden_scopes);
  const auto items = by_entry(target.items), golden_items = by_entry(golden.items);
  for (size_t entry = 0; entry < scopes.size(); ++entry) {
    std::unordered_map<std::string, const std::string*> partners;
    if (const auto partner = partner_of(entry, scopes, tree, golden_tree, rules)) {
      for (const MsprobeItem* item : golden_items[*partner]) {
        partners[behind(item->name, golden.items.entries[*partner])] = &item->name;
      }
    }
    for (const MsprobeItem* item : items[entry]) {
      const auto found = partners.find(behind(item->name, target.items.entries[entry]));
      mapping[item->name] = found == partners.end() ? std::string(kNoPartner) : *found->second;
    }
  }
  return mapping;
}

}  // namespace msdump
