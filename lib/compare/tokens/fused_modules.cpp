#include "compare/tokens/fused_modules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "msprobe/module_path.h"

namespace msdump {
namespace {

// The name of a forward call of a module: "Module.model.layers.0.self_attn." "qkv_proj" ".Linear.forward.0". Hooks have the path
// alone.
struct ModuleName {
  std::string_view parent, own, after;
};

std::optional<ModuleName> module_name(std::string_view name) {
  const auto path = module_path(name);
  const size_t dot = path ? path->rfind('.') : std::string_view::npos;
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view call = name.substr(path->size());
  if (call.find(".backward.") != std::string_view::npos) return std::nullopt;
  return ModuleName{path->substr(0, dot + 1), path->substr(dot + 1), call};
}

// The only output with rows; kNoId if there is none, or several.
RecordId output_of(const TokenSide& side, const SequencedOp& op) {
  RecordId found = kNoId;
  for (const RecordId tensor : op.tensors) {
    if (side.tensors()[tensor].name.io != Io::kOutput) continue;
    if (found != kNoId || !side.has_rows(tensor) || side.extents_of_row(tensor).empty()) return kNoId;
    found = tensor;
  }
  return found;
}

struct Module {
  std::string_view own;
  int64_t extent = 0;
};
using Modules = std::map<std::string_view, std::vector<Module>>;  // by parent

Modules modules_of(const TokenSide& side) {
  Modules modules;
  for (const SequencedOp& op : side.operators()) {
    const auto name = module_name(op.name);
    if (!name) continue;
    const RecordId output = output_of(side, op);
    modules[name->parent].push_back({name->own, output == kNoId ? 0 : side.extents_of_row(output).back()});
  }
  return modules;
}

// The parts that the name is made of, in its order: those with its suffix, one behind the other, with '_' between them or
// without.
std::vector<Module> parts_of(std::string_view own, const std::vector<Module>& others) {
  const size_t underscore = own.rfind('_');
  if (underscore == std::string_view::npos) return {};
  const std::string_view suffix = own.substr(underscore);
  std::string_view stem = own.substr(0, underscore);
  std::vector<Module> parts;
  while (!stem.empty() && parts.size() < kFewTried) {
    const auto part = std::find_if(others.begin(), others.end(), [&](const Module& other) {
      return other.own.size() > suffix.size() && other.own.ends_with(suffix) &&
             stem.starts_with(other.own.substr(0, other.own.size() - suffix.size()));
    });
    if (part == others.end()) return {};
    stem.remove_prefix(part->own.size() - suffix.size());
    if (stem.starts_with('_')) stem.remove_prefix(1);
    parts.push_back(*part);
  }
  return stem.empty() && parts.size() > 1 ? parts : std::vector<Module>();
}

std::string without_numbers(std::string_view name) {
  std::string result;
  for (const std::string_view part : split(name, '.')) {
    if (!result.empty()) result += '.';
    result += is_digits(part) ? std::string_view("*") : part;
  }
  return result;
}

}  // namespace

std::vector<TokenSide::Fused> fused_modules(const TokenSide& side, const TokenSide& other,
                                            std::vector<FoundRelation>& relations) {
  const Modules modules = modules_of(other);
  std::vector<TokenSide::Fused> found;
  for (size_t i = 0; i < side.operators().size(); ++i) {
    const SequencedOp& op = side.operators()[i];
    const auto name = module_name(op.name);
    const RecordId output = name ? output_of(side, op) : RecordId();
    if (output == kNoId) continue;
    const auto beside = modules.find(name->parent);
    if (beside == modules.end()) continue;
    const auto has_name = [&](const Module& one) { return one.own == name->own; };
    if (std::any_of(beside->second.begin(), beside->second.end(), has_name)) continue;
    const std::vector<Module> parts = parts_of(name->own, beside->second);
    int64_t extent = 0;
    for (const Module& part : parts) extent += part.extent;
    if (parts.empty() || extent != side.extents_of_row(output).back()) continue;
    TokenSide::Fused& fused = found.emplace_back();
    fused.op = i;
    std::string text;
    for (const Module& part : parts) {
      fused.names.push_back(std::string(name->parent) + std::string(part.own) + std::string(name->after));
      fused.extents.push_back(part.extent);
      text += fmt::format("{}{}", text.empty() ? "" : ", ", part.own);
    }
    text = fmt::format("{} = concat({})", without_numbers(std::string(name->parent) + std::string(name->own)), text);
    const auto known =
        std::find_if(relations.begin(), relations.end(), [&](const FoundRelation& one) { return one.text == text; });
    if (known != relations.end()) {
      ++known->count;
    } else {
      relations.push_back({"concatenated", std::move(text), 1});
    }
  }
  return found;
}

}  // namespace msdump
