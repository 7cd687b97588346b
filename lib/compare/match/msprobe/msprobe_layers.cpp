#include "compare/match/msprobe/msprobe_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "msprobe/construct_json.h"

namespace msdump {
namespace {

// The scope of an entry of a dump, by rule 1.
struct MsprobeScope {
  std::string scope;  // "TopLayer.fc1" or "Module.layers.0.fc1": the first part is ignored
  std::string type;   // the class of a module, the API of a call
  std::string state;  // "forward", "backward", "parameters_grad"
};

constexpr std::string_view kTopLayer = "TopLayer", kNoPartner = "N/A", kGradients = "parameters_grad";
constexpr std::array<std::string_view, 4> kFrameworkFiles{"site-packages/torch", "package/torch",
                                                          "site-packages/mindspore", "package/mindspore"};
constexpr std::array<std::string_view, 2> kSkippedFiles{"msprobe", "MindSpeed"};
constexpr std::array<std::string_view, 2> kSkippedFunctions{"construct", "__call__"};

template <size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

using Parts = std::vector<std::string_view>;

std::string joined(std::span<const std::string_view> parts, size_t count) {
  return fmt::format("{}", fmt::join(parts.first(count), "."));
}

// The lines between "Template" and the framework's entry into the model.
Parts lines_of_call(const Parts& lines, bool mindspore) {
  Parts between;
  bool begun = false;
  for (const std::string_view line : lines) {
    const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    const bool entry = mindspore ? has("construct") : has("in forward,") || has("in backward,");
    if (has("Template")) {
      begun = true;
      between.clear();
    } else if (begun && entry) {
      break;
    } else {
      between.push_back(line);
    }
  }
  return between;
}

// The function of the outermost of the framework's lines at the beginning. A line is "File F, line N, in FUNCTION, ..".
std::optional<std::string> framework_function(const Parts& lines) {
  const auto is_of_framework = [](std::string_view line) {
    return contains_any(line.substr(0, line.find(',')), kFrameworkFiles);
  };
  const auto end = std::find_if_not(lines.begin(), lines.end(), is_of_framework);
  if (end == lines.begin()) return std::nullopt;
  const Parts fields = split(*std::prev(end), ',');
  if (fields.size() < 3 || contains_any(fields[0], kSkippedFiles) || contains_any(fields[2], kSkippedFunctions)) {
    return std::nullopt;
  }
  Parts words = split(fields[2], ' ');
  std::erase(words, std::string_view());
  return words.size() < 2 ? std::nullopt : std::optional<std::string>(words[1]);
}

class ScopeMaker {
 public:
  ScopeMaker(const StackJson& stacks, const ConstructJson& construct, bool mindspore)
      : stacks_(stacks), construct_(construct), mindspore_(mindspore) {}

  Result<MsprobeScope> make(const std::string& name) const {
    const Parts parts = split(name, '.');
    const size_t n = parts.size();
    if (n < 4) return fail(ErrorCode::kUsage, "'{}' has fewer than four parts", excerpt(name));
    // {Cell}.{path}.{name}.{Class}.parameters_grad[.{call}]
    const bool numbered = parts[n - 2] == kGradients && is_digits(parts[n - 1]);
    if (numbered || parts[n - 1] == kGradients) {
      const size_t type = n - (numbered ? 3 : 2);
      return MsprobeScope{below(joined(parts, n - 3), parts[type - 1]), std::string(parts[type]),
                          std::string(kGradients)};
    }
    MsprobeScope scope{{}, std::string(parts[n - 3]), {}};
    if (parts[0] == "Cell" || parts[0] == "Module") {
      // {Cell}.{path}.{name}.{Class}.{direction}.{call}: the path and the name.
      scope.state = parts[n - 2];
      scope.scope = below(joined(parts, n - 4), parts[n - 4]);
      return scope;
    }
    scope.state = parts[n - 1];
    MSDUMP_TRY(scope.scope, module_of(name));
    const bool is_named = stacks_.is_shared || parts[0] == "Primitive" || parts[0] == "Jit";
    if (const StackJson::Op* const op = is_named ? nullptr : stacks_.find(name)) {
      const auto function = framework_function(lines_of_call(stacks_.texts_of(*op), mindspore_));
      if (function) scope.scope += "." + *function;
    }
    scope.scope += "." + scope.type;
    return scope;
  }

 private:
  static std::string below(const std::string& path, std::string_view layer) {
    return fmt::format("{}.{}", path.empty() ? kTopLayer : path, layer);
  }

  // The path of the module that a call was made in.
  [[nodiscard]] Result<std::string> module_of(const std::string& name) const {
    const ConstructJson::Node* node = construct_.find(name);
    if (node == nullptr || node->parent.empty()) return std::string(kTopLayer);
    const Parts parts = split(node->parent, '.');
    if (parts.size() == 1) return std::string();
    if (parts.size() < 4) return fail(ErrorCode::kUsage, "'{}' has fewer than four parts", excerpt(node->parent));
    return joined(parts, parts.size() - 3);
  }

  const StackJson& stacks_;
  const ConstructJson& construct_;
  bool mindspore_;
};

// Gives each backward call the scope of its forward call.
void take_forward_scopes(const std::vector<std::string>& entries, std::vector<MsprobeScope>& scopes) {
  std::unordered_map<std::string, size_t> by_name;
  for (size_t i = 0; i < entries.size(); ++i) by_name.emplace(entries[i], i);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Parts parts = split(entries[i], '.');
    const size_t n = parts.size();
    if (parts[n - 1] != "backward" && parts[n - 2] != "backward") continue;
    const std::string_view call = std::string_view(entries[i]).substr(joined(parts, n - 2).size());
    const std::string forward = joined(parts, n - 2) + replaced(call, "backward", "forward");
    if (const auto found = by_name.find(forward); found != by_name.end()) scopes[i].scope = scopes[found->second].scope;
  }
}

// The last number in the first part of a scope.
std::optional<int64_t> number_in_first_part(std::string_view scope) {
  constexpr std::string_view kDigits = "0123456789";
  std::string_view part = scope.substr(0, scope.find('.'));
  part = part.substr(0, part.find_last_of(kDigits) + 1);
  return parse_i64(part.substr(part.find_last_not_of(kDigits) + 1));
}

// Counts layers from 0. MindSpore goes on counting from one pipeline stage to the next, PyTorch starts again.
void renumber_layers(std::vector<MsprobeScope>& scopes) {
  std::set<std::pair<std::string, size_t>> by_name;  // scopes that may have a number, with their present names
  std::vector<std::string> prefixes;
  std::unordered_set<std::string> known;
  for (size_t i = 0; i < scopes.size(); ++i) {
    by_name.emplace(scopes[i].scope, i);
    std::string prefix = scopes[i].scope + ".layers.";
    if (scopes[i].type == "ParallelTransformer" && known.insert(prefix).second) prefixes.push_back(std::move(prefix));
  }
  for (const std::string& prefix : prefixes) {
    std::vector<std::pair<size_t, int64_t>> numbered;
    int64_t lowest = INT64_MAX;
    for (auto at = by_name.lower_bound({prefix, 0}); at != by_name.end() && at->first.starts_with(prefix); ++at) {
      const auto number = number_in_first_part(std::string_view(at->first).substr(prefix.size()));
      if (number) numbered.emplace_back(at->second, *number);
      lowest = std::min(lowest, number.value_or(INT64_MAX));
    }
    for (const auto& [i, number] : numbered) {
      std::string& scope = scopes[i].scope;
      by_name.erase({scope, i});
      scope.replace(prefix.size(), std::min(scope.find('.', prefix.size()), scope.size()) - prefix.size(),
                    std::to_string(number - lowest));
      by_name.emplace(scope, i);
    }
  }
}

// The scope of each entry; empty without stacks or modules. An error if only one of stack.json and construct.json is there,
// or if a name has fewer than four parts.
Result<std::vector<MsprobeScope>> msprobe_scopes(const MsprobeLayerSide& side) {
  const std::string folder = side.json_path.substr(0, side.json_path.rfind('/') + 1);
  const std::string stack_path = folder + "stack.json", construct_path = folder + "construct.json";
  const bool has_stack = path_kind(stack_path) == PathKind::kFile;
  const bool has_construct = path_kind(construct_path) == PathKind::kFile;
  if (!has_stack && !has_construct) return std::vector<MsprobeScope>{};
  MSDUMP_TRY(const File stack_file, File::open(stack_path));
  MSDUMP_TRY(const StackJson stacks, read_stack_json(stack_file));
  MSDUMP_TRY(const File construct_file, File::open(construct_path));
  MSDUMP_TRY(const ConstructJson construct, read_construct_json(construct_file));
  if (stacks.ops.empty() || construct.nodes.empty()) return std::vector<MsprobeScope>{};

  const ScopeMaker maker(stacks, construct, side.items.framework != "pytorch");
  std::vector<MsprobeScope> scopes;
  for (const std::string& entry : side.items.entries) {
    MSDUMP_TRY(scopes.emplace_back(), in_file(maker.make(entry), side.json_path));
  }
  take_forward_scopes(side.items.entries, scopes);
  renumber_layers(scopes);
  return scopes;
}

// The layers of a model by their paths. Paths may be of any length, so layers are no objects that hold each other: their
// destructors would recurse.
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

  // The class of a layer that was called; else its name.
  [[nodiscard]] const std::string& type_of(Layer layer) const { return layers_[layer].type; }
  [[nodiscard]] std::optional<Layer> child_of(Layer layer, std::string_view name) const {
    const auto child = children_.find({layer, std::string(name)});
    return child == children_.end() ? std::nullopt : std::optional(child->second);
  }
  // The index of an entry among those of its layer and direction.
  [[nodiscard]] size_t place_of(size_t entry) const { return places_[entry]; }

  [[nodiscard]] std::optional<size_t> entry_at(Layer layer, const std::string& state, size_t place) const {
    const auto& entries = layers_[layer].entries;
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

// Applies the longest rule for parts[at..] in a layer of that class; without a rule the name stays.
LayerStep step_at(const MsprobeLayerRules& rules, const std::string& type, const Parts& parts, size_t at) {
  const auto of_class = rules.find(type);
  if (of_class == rules.end()) return {1, parts[at]};
  for (size_t count = std::min(of_class->second.most_parts, parts.size() - at); count > 0; --count) {
    const auto found = of_class->second.by_path.find(joined(std::span(parts).subspan(at), count));
    if (found != of_class->second.by_path.end()) return {count, found->second};
  }
  return {1, parts[at]};
}

// The golden entry for an entry of the target, by rules 2 and 3.
std::optional<size_t> partner_of(size_t entry, const std::vector<MsprobeScope>& scopes, const LayerTree& target,
                                 const LayerTree& golden, const MsprobeLayerRules& rules) {
  const Parts parts = split(scopes[entry].scope, '.');
  LayerTree::Layer own = LayerTree::kRoot, there = LayerTree::kRoot;
  for (size_t at = 1; at < parts.size();) {
    const LayerStep step = step_at(rules, target.type_of(own), parts, at);
    for (const std::string_view part : split(step.to, '.')) {
      const auto child = golden.child_of(there, part);
      if (!child) return std::nullopt;
      there = *child;
    }
    for (const size_t end = at + step.parts; at < end; ++at) own = *target.child_of(own, parts[at]);
  }
  return golden.entry_at(there, scopes[entry].state, target.place_of(entry));
}

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
