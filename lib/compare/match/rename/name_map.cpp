#include "compare/match/rename/name_map.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr std::string_view kModules = "Module.", kWrapper = "module.";
constexpr std::string_view kAnyItem = ".input.0", kNoKey = "N/A";  // msprobe_cell_key takes items

std::string tensor_key(std::string_view op_name, Io io, std::string_view slot) {
  return normalised_op_name(fmt::format("{}:{}:{}", op_name, name_of(io), slot));
}

// The name of the call with the reference's API.
std::string with_api(std::string_view op_name, const ApiPair& api) {
  std::string_view rest = op_name.substr(api.candidate.size());
  const bool loses_class = api.candidate.starts_with("Primitive.") && !api.reference.starts_with("Primitive.");
  if (loses_class && rest.size() > 1) rest.remove_prefix(std::min(rest.find('.', 1), rest.size()));
  return api.reference + std::string(rest);
}

const SlotPairs& slots_of(const ApiPair& api, std::string_view op_name, Io io) {
  if (io == Io::kInput) return api.input;
  if (io == Io::kOutput) return api.output;
  return op_name.find(".parameters_grad") == std::string_view::npos ? api.parameters : api.parameters_grad;
}

// The slot by its longest part that is mapped: "1.0" for "0.0" if "0" is mapped to "1". No value if none is.
std::optional<std::string> mapped_slot(const SlotPairs& pairs, std::string_view slot) {
  if (!pairs) return std::string(slot);
  for (std::string_view part = slot;;) {
    for (const auto& [from, to] : *pairs) {
      if (from == part) return to + std::string(slot.substr(part.size()));
    }
    const size_t dot = part.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    part = part.substr(0, dot);
  }
}

}  // namespace

size_t wrappers_of(const std::vector<SequencedOp>& operators) {
  size_t fewest = SIZE_MAX;
  for (const SequencedOp& one : operators) {
    std::string_view name = one.name;
    if (!name.starts_with(kModules)) continue;
    name.remove_prefix(kModules.size());
    size_t wrappers = 0;
    for (; name.starts_with(kWrapper); ++wrappers) name.remove_prefix(kWrapper.size());
    fewest = std::min(fewest, wrappers);
  }
  return fewest == SIZE_MAX ? 0 : fewest;
}

std::string without_wrappers(std::string_view name, size_t wrappers) {
  if (!name.starts_with(kModules)) return std::string(name);
  return std::string(kModules) + std::string(name.substr(kModules.size() + wrappers * kWrapper.size()));
}

NameMap::NameMap(NameMapContent content) : content_(std::move(content)), cells_(std::move(content_.cells)) {
  for (const NamePair& pair : content_.operators) {
    operators_.insert_or_assign(normalised_op_name(pair.candidate), pair.reference);
  }
  for (size_t i = 0; i < content_.apis.size(); ++i) apis_.try_emplace(content_.apis[i].candidate, i);
  std::unordered_map<std::string, std::string> found;  // operators of tensors, if there is one partner
  std::unordered_set<std::string> several;
  for (const NamePair& pair : content_.tensors) {
    const auto from = tensor_name(pair.candidate);
    if (!from) continue;
    const TensorName to = tensor_name(pair.reference).value_or(TensorName{});
    tensors_.insert_or_assign(tensor_key(from->op_name, from->io, from->slot), to);
    if (to.op_name.empty()) continue;
    const auto [known, added] = found.try_emplace(normalised_op_name(from->op_name), to.op_name);
    if (!added && known->second != to.op_name) several.insert(known->first);
  }
  for (auto& [from, to] : found) {
    if (!several.contains(from)) operators_.try_emplace(from, std::move(to));
  }
}

Result<NameMap> NameMap::read(const std::string& path, const NameMapDumps& dumps) {
  MSDUMP_TRY(NameMapContent content, read_name_map(path, dumps));
  return NameMap(std::move(content));
}

const ApiPair* NameMap::api_of(std::string_view op_name) const {
  const auto found = apis_.find(std::string(msprobe_api_of(op_name).value_or(std::string_view())));
  return found == apis_.end() ? nullptr : &content_.apis[found->second];
}

std::optional<std::string> NameMap::renamed(std::string_view op_name) const {
  const bool is_module = op_name.starts_with("Cell.") || op_name.starts_with("Module.");
  if (content_.kind == NameMapKind::kCell && is_module) {
    std::string key = msprobe_cell_key(std::string(op_name) + std::string(kAnyItem), cells_);
    if (key == kNoKey || !key.ends_with(kAnyItem)) return std::nullopt;
    key.resize(key.size() - kAnyItem.size());
    return key;
  }
  if (content_.kind != NameMapKind::kApi) return std::nullopt;
  if (const ApiPair* api = api_of(op_name)) return with_api(op_name, *api);
  const std::string plain(op_name);
  std::string key = msprobe_table_key(plain);
  return key == plain ? std::nullopt : std::optional(std::move(key));
}

std::optional<std::string> NameMap::reference_of(std::string_view op_name) const {
  const auto found = operators_.find(normalised_op_name(op_name));
  return found == operators_.end() ? renamed(op_name) : std::optional(found->second);
}

std::optional<TensorName> NameMap::reference_of(std::string_view op_name, Io io, std::string_view slot) const {
  if (const auto found = tensors_.find(tensor_key(op_name, io, slot)); found != tensors_.end()) return found->second;
  auto partner = reference_of(op_name);
  if (!partner) return std::nullopt;
  if (partner->empty()) return TensorName{};
  TensorName name{std::move(*partner), io, std::string(slot)};
  if (content_.kind != NameMapKind::kApi) return name;
  if (const ApiPair* api = api_of(op_name)) {
    auto mapped = mapped_slot(slots_of(*api, op_name, io), slot);
    if (!mapped) return TensorName{};
    name.slot = std::move(*mapped);
  }
  return name;
}

}  // namespace msdump
