#include "compare/match/msprobe/msprobe_layers.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "compare/match/msprobe/msprobe_scopes.h"

namespace msdump {
namespace {

constexpr std::string_view kTopLayer = "TopLayer", kNoPartner = "N/A";

// A layer: its entries, by direction, and its sub-layers.
struct Layer {
  std::string type;  // its class, once something of that name has been called; else its name
  std::map<std::string, std::vector<size_t>> entries;
  std::map<std::string, std::unique_ptr<Layer>, std::less<>> children;
};

class LayerTree {
 public:
  explicit LayerTree(const std::vector<MsprobeScope>& scopes) : places_(scopes.size()) {
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
      std::vector<size_t>& entries = layer->entries[scopes[i].state];
      places_[i] = entries.size();
      entries.push_back(i);
      layer->type = scopes[i].type;
    }
  }

  [[nodiscard]] const Layer& root() const { return root_; }
  // The place of an entry among those of its layer and direction.
  [[nodiscard]] size_t place_of(size_t entry) const { return places_[entry]; }

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
  std::vector<size_t> places_;  // by entry
};

struct LayerStep {
  size_t parts = 1;     // of the target's path
  std::string_view to;  // the golden path
};

// By the longest rule for what lies at parts[at..] in a layer of that class; without a rule the name stays.
LayerStep step_at(const MsprobeLayerRules& rules, const std::string& type, const std::vector<std::string_view>& parts,
                  size_t at) {
  const auto of_class = rules.find(type);
  if (of_class == rules.end()) return {1, parts[at]};
  for (size_t count = std::min(of_class->second.most_parts, parts.size() - at); count > 0; --count) {
    const auto path = fmt::format("{}", fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(at),
                                                  parts.begin() + static_cast<std::ptrdiff_t>(at + count), "."));
    const auto found = of_class->second.by_path.find(path);
    if (found != of_class->second.by_path.end()) return {count, found->second};
  }
  return {1, parts[at]};
}

// The golden entry for an entry of the target.
std::optional<size_t> partner_of(size_t entry, const std::vector<MsprobeScope>& scopes, const LayerTree& target,
                                 const LayerTree& golden, const MsprobeLayerRules& rules) {
  const auto parts = split(scopes[entry].scope, '.');
  std::vector<std::string> path;
  const Layer* layer = &target.root();
  for (size_t at = 1; at < parts.size();) {
    const LayerStep step = step_at(rules, layer->type, parts, at);
    for (const std::string_view part : split(step.to, '.')) path.emplace_back(part);
    for (const size_t end = at + step.parts; at < end; ++at) layer = layer->children.find(parts[at])->second.get();
  }
  return golden.find(path, scopes[entry].state, target.place_of(entry));
}

// Items by their entry.
std::vector<std::vector<const MsprobeItem*>> by_entry(const MsprobeItems& items) {
  std::vector<std::vector<const MsprobeItem*>> result(items.entries.size());
  for (const MsprobeItem& item : items.items) result[item.entry].push_back(&item);
  return result;
}

std::string after_entry(const std::string& name, const std::string& entry) {
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
    MsprobeClassRules& of_class = rules[std::string(member.key == "Cell" ? kTopLayer : std::string_view(member.key))];
    of_class = {};
    for (const JsonMember& rule : member.value.members) {
      if (!rule.value.is(JsonKind::kString)) {
        return fail(ErrorCode::kUsage, "'{}' is not mapped to a layer", excerpt(rule.key));
      }
      MSDUMP_CHECK_OK(check_mapped_name(rule.key));
      MSDUMP_CHECK_OK(check_mapped_name(rule.value.text));
      of_class.by_path.try_emplace(rule.key, rule.value.text.substr(0, rule.value.text.find('(')));
      of_class.most_parts = std::max(of_class.most_parts, split(rule.key, '.').size());
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
        partners[after_entry(item->name, golden.items.entries[*partner])] = &item->name;
      }
    }
    for (const MsprobeItem* item : items[entry]) {
      const auto found = partners.find(after_entry(item->name, target.items.entries[entry]));
      mapping[item->name] = found == partners.end() ? std::string(kNoPartner) : *found->second;
    }
  }
  return mapping;
}

}  // namespace msdump
