#include "compare/match/msprobe/msprobe_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
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

// The scope of an entry of a dump, by rule 1 of msprobe_layers.h.
struct MsprobeScope {
  std::string scope;  // "TopLayer.fc1" or "Module.layers.0.fc1": the first part is ignored
  std::string type;   // the class of a module, the API of a call
  std::string state;  // "forward", "backward", "parameters_grad"
};

constexpr std::string_view kTopScope = "TopLayer", kGradients = "parameters_grad";
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

std::string joined(const Parts& parts, size_t count) {
  std::string text;
  for (size_t i = 0; i < std::min(count, parts.size()); ++i) {
    if (i > 0) text += '.';
    text += parts[i];
  }
  return text;
}

bool is_module(std::string_view type) { return type == "Cell" || type == "Module"; }

// The lines between "Template" and the framework's entry into the model.
std::vector<std::string_view> lines_of_call(const std::vector<std::string_view>& lines, bool mindspore) {
  size_t begin = 0, end = lines.size();
  bool begun = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("Template") != std::string_view::npos) {
      begin = i + 1;
      begun = true;
      continue;
    }
    const bool entry = mindspore ? lines[i].find("construct") != std::string_view::npos
                                 : lines[i].find("in forward,") != std::string_view::npos ||
                                       lines[i].find("in backward,") != std::string_view::npos;
    if (begun && entry) {
      end = i;
      break;
    }
  }
  const auto at = [&](size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(std::min(begin, end)), at(end)};
}

// The function of the outermost of the framework's lines at the beginning. A line is "File F, line N, in FUNCTION, ..".
std::optional<std::string> framework_function(const std::vector<std::string_view>& lines) {
  std::optional<std::string_view> last;
  for (const std::string_view line : lines) {
    if (!contains_any(line.substr(0, line.find(',')), kFrameworkFiles)) break;
    last = line;
  }
  if (!last) return std::nullopt;
  const auto fields = split(*last, ',');
  if (fields.size() < 3 || contains_any(fields[0], kSkippedFiles) || contains_any(fields[2], kSkippedFunctions)) {
    return std::nullopt;
  }
  Parts words;
  for (const std::string_view word : split(fields[2], ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words.size() < 2 ? std::nullopt : std::optional<std::string>(words[1]);
}

class ScopeMaker {
 public:
  ScopeMaker(const StackJson& stacks, const ConstructJson& construct, bool mindspore)
      : stacks_(stacks), construct_(construct), mindspore_(mindspore) {}

  Result<MsprobeScope> make(const std::string& name) const {
    const Parts parts = split(name, '.');
    if (parts.size() < 4) return fail(ErrorCode::kUsage, "'{}' has fewer than four parts", excerpt(name));
    const size_t n = parts.size();
    if (parts[n - 1] == kGradients) return gradients(parts, n);
    if (parts[n - 2] == kGradients && is_digits(parts[n - 1])) return gradients(parts, n - 1);
    MsprobeScope scope;
    scope.type = parts[n - 3];
    if (is_module(parts[0])) {
      // {Cell}.{path}.{name}.{Class}.{direction}.{call}: the path and the name.
      scope.state = parts[n - 2];
      const std::string path = joined(parts, n - 4);
      scope.scope = (path.empty() ? std::string(kTopScope) : path) + "." + std::string(parts[n - 4]);
      return scope;
    }
    scope.state = parts[n - 1];
    MSDUMP_TRY(scope.scope, module_of(name));
    if (const auto function = function_of(name, parts[0])) scope.scope += "." + *function;
    scope.scope += "." + scope.type;
    return scope;
  }

 private:
  // {Cell}.{path}.{name}.{Class}.parameters_grad[.{call}]; `end` is after parameters_grad.
  static MsprobeScope gradients(const Parts& parts, size_t end) {
    const std::string layer = joined(parts, parts.size() - 3);
    return {(layer.empty() ? std::string(kTopScope) : layer) + "." + std::string(parts[end - 3]),
            std::string(parts[end - 2]), std::string(kGradients)};
  }

  // The path of the module that a call was made in.
  [[nodiscard]] Result<std::string> module_of(const std::string& name) const {
    const ConstructJson::Node* node = construct_.find(name);
    if (node == nullptr || node->parent.empty()) return std::string(kTopScope);
    const Parts parts = split(node->parent, '.');
    if (parts.size() > 1 && parts.size() < 4) {
      return fail(ErrorCode::kUsage, "'{}' has fewer than four parts", excerpt(node->parent));
    }
    if (parts.size() < 4) return std::string();
    return joined(parts, parts.size() - 3);
  }

  [[nodiscard]] std::optional<std::string> function_of(const std::string& name, std::string_view prefix) const {
    if (stacks_.is_shared || prefix == "Primitive" || prefix == "Jit") return std::nullopt;
    const StackJson::Op* const op = stacks_.find(name);
    if (op == nullptr) return std::nullopt;
    return framework_function(lines_of_call(stacks_.texts_of(*op), mindspore_));
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
    std::string forward = joined(parts, n - 2);
    for (const std::string_view part : {parts[n - 2], parts[n - 1]}) {
      std::string text(part);
      for (size_t at = text.find("backward"); at != std::string::npos; at = text.find("backward", at)) {
        text.replace(at, 8, "forward");
      }
      forward += "." + text;
    }
    if (const auto found = by_name.find(forward); found != by_name.end()) scopes[i].scope = scopes[found->second].scope;
  }
}

// The last number in the first part of a scope.
std::optional<int64_t> number_in_first_part(std::string_view scope) {
  std::string_view part = scope.substr(0, scope.find('.'));
  while (!part.empty() && !is_digits(part.substr(part.size() - 1))) part.remove_suffix(1);
  size_t begin = part.size();
  while (begin > 0 && is_digits(part.substr(begin - 1, 1))) --begin;
  return parse_i64(part.substr(begin));
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
    for (auto at = by_name.lower_bound({prefix, 0}); at != by_name.end() && at->first.starts_with(prefix); ++at) {
      const auto number = number_in_first_part(std::string_view(at->first).substr(prefix.size()));
      if (number) numbered.emplace_back(at->second, *number);
    }
    const auto lowest = std::min_element(numbered.begin(), numbered.end(), [](const auto& left, const auto& right) {
      return left.second < right.second;
    });
    for (const auto& [i, number] : numbered) {
      std::string& scope = scopes[i].scope;
      by_name.erase({scope, i});
      scope.replace(prefix.size(), std::min(scope.find('.', prefix.size()), scope.size()) - prefix.size(),
                    std::to_string(number - lowest->second));
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
    MSDUMP_TRY(MsprobeScope scope, in_file(maker.make(entry), side.json_path));
    scopes.push_back(std::move(scope));
  }
  take_forward_scopes(side.items.entries, scopes);
  renumber_layers(scopes);
  return scopes;
}

constexpr std::string_view kTopLayer = "TopLayer", kNoPartner = "N/A";

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

// Applies the longest rule for parts[at..] in a layer of that class; without a rule the name stays.
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

// The golden entry for an entry of the target, by rules 2 and 3.
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
