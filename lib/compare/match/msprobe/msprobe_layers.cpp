#include "compare/match/msprobe/msprobe_layers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "compare/match/msprobe/msprobe_scopes.h"

namespace msdump {
namespace {

constexpr std::string_view kTopLayer = "TopLayer", kNoPartner = "N/A";

// The layers of a model by their paths. Paths may be of any length, so layers are no objects that hold each other.
class LayerTree {
 public:
  using Layer = uint32_t;
  static constexpr Layer kRoot = 0;

  explicit LayerTree(const std::vector<MsprobeScope>& scopes) : places_(scopes.size()) {
    layers_.push_back({std::string(kTopLayer), {}});
    for (size_t i = 0; i < scopes.size(); ++i) {
      Layer layer = kRoot;
      const auto parts = split(scopes[i].scope, '.');
      for (size_t part = 1; part < parts.size(); ++part) {
        const auto [child, is_new] =
            children_.try_emplace({layer, std::string(parts[part])}, static_cast<Layer>(layers_.size()));
        if (is_new) layers_.push_back({std::string(parts[part]), {}});
        layer = child->second;
      }
      std::vector<size_t>& entries = layers_[layer].entries[scopes[i].state];
      places_[i] = entries.size();
      entries.push_back(i);
      layers_[layer].type = scopes[i].type;
    }
  }

  // The class of a layer, once something of that name has been called; else its name.
  [[nodiscard]] const std::string& type_of(Layer layer) const { return layers_[layer].type; }
  [[nodiscard]] std::optional<Layer> child_of(Layer layer, std::string_view name) const {
    const auto child = children_.find({layer, std::string(name)});
    return child == children_.end() ? std::nullopt : std::optional(child->second);
  }
  // The place of an entry among those of its layer and direction.
  [[nodiscard]] size_t place_of(size_t entry) const { return places_[entry]; }

  [[nodiscard]] std::optional<size_t> find(const std::vector<std::string>& path, const std::string& state,
                                           size_t place) const {
    std::optional<Layer> layer = kRoot;
    for (const std::string& part : path) {
      layer = child_of(*layer, part);
      if (!layer) return std::nullopt;
    }
    const auto& entries = layers_[*layer].entries;
    const auto found = entries.find(state);
    if (found == entries.end() || place >= found->second.size()) return std::nullopt;
    return found->second[place];
  }

 private:
  struct Node {
    std::string type;
    std::map<std::string, std::vector<size_t>> entries;  // by direction
  };
  std::vector<Node> layers_;
  std::map<std::pair<Layer, std::string>, Layer> children_;
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
  LayerTree::Layer layer = LayerTree::kRoot;
  for (size_t at = 1; at < parts.size();) {
    const LayerStep step = step_at(rules, target.type_of(layer), parts, at);
    for (const std::string_view part : split(step.to, '.')) path.emplace_back(part);
    for (const size_t end = at + step.parts; at < end; ++at) layer = *target.child_of(layer, parts[at]);
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
