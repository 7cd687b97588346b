#include "torch/dtensor.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "report/json.h"
#include "tensor/shape.h"

namespace msdump::torch {
namespace {

constexpr size_t kLongest = size_t{64} << 10;
constexpr size_t kMostRanks = 16'384, kMostMeshes = 1000, kLongestWord = 100;

// The dict with the attributes of an object; the value itself if it is a dict.
const PickleValue* dict_of(const Pickle& pickle, PickleRef ref) {
  const PickleValue* value = &pickle[ref];
  if (value->kind == PickleKind::kCall && value->state != 0) value = &pickle[value->state];
  return value->kind == PickleKind::kDict ? value : nullptr;
}

// "Shard(0)", "Partial(sum)"; empty for what is no placement.
std::string placement_text(const Pickle& pickle, PickleRef ref) {
  const PickleValue& placement = pickle[ref];
  if (placement.kind != PickleKind::kCall) return {};
  std::string_view word = class_of(pickle, placement);
  if (word == "_Partial") word = "Partial";  // up to 2.4
  std::string text(word.substr(0, kLongestWord));
  const PickleValue* const attributes = dict_of(pickle, ref);
  std::string arguments;
  for (size_t i = 1; attributes != nullptr && i < attributes->items.size(); i += 2) {
    const PickleValue& value = pickle[attributes->items[i]];
    const bool number = value.kind == PickleKind::kInt;
    if ((!number && value.kind != PickleKind::kText) || arguments.size() > kLongestWord) continue;
    if (!arguments.empty()) arguments += ", ";
    arguments += number ? std::to_string(value.number) : std::string(value.text.substr(0, kLongestWord));
  }
  return arguments.empty() ? text : text + "(" + arguments + ")";
}

std::optional<report::List> placements_of(const Pickle& pickle, PickleRef ref) {
  const PickleValue& all = pickle[ref];
  if ((all.kind != PickleKind::kTuple && all.kind != PickleKind::kList) || all.items.size() > kMaxRank)
    return std::nullopt;
  report::List list;
  for (const PickleRef item : all.items) {
    std::string text = placement_text(pickle, item);
    if (text.empty()) return std::nullopt;
    list.emplace_back(std::move(text));
  }
  return list;
}

// The ranks, nested like the mesh.
report::List nested(std::span<const int64_t> shape, std::span<const int64_t> ranks) {
  if (shape.size() <= 1) return report::list_of(std::vector<int64_t>(ranks.begin(), ranks.end()));
  report::List list;
  const size_t each = shape[0] == 0 ? 0 : ranks.size() / static_cast<size_t>(shape[0]);
  for (size_t i = 0; i < static_cast<size_t>(shape[0]); ++i)
    list.emplace_back(nested(shape.subspan(1), ranks.subspan(i * each, each)));
  return list;
}

struct Mesh {
  Shape shape;
  std::vector<int64_t> ranks;  // not empty
};

std::optional<Mesh> mesh_of(const Pickle& pickle, PickleRef mesh) {
  const auto flat = attribute_of(pickle, mesh, "_flatten_mesh_list");
  const auto tensor = attribute_of(pickle, mesh, "mesh");
  if (!flat || !tensor || pickle[*tensor].kind != PickleKind::kCall) return std::nullopt;
  auto ranks = integers_of(pickle, *flat, kMostRanks);
  constexpr size_t kShapeArgument = 2;  // of torch._utils._rebuild_tensor_v2
  const auto& arguments = pickle[pickle[*tensor].argument].items;
  if (!ranks || arguments.size() <= kShapeArgument) return std::nullopt;
  auto shape = integers_of(pickle, arguments[kShapeArgument], kMaxRank);
  if (!shape || element_count(*shape) != static_cast<int64_t>(ranks->size()) || ranks->empty()) return std::nullopt;
  return Mesh{*std::move(shape), *std::move(ranks)};
}

std::optional<int64_t> rank_in_mesh(const Pickle& pickle, PickleRef ref) {
  const auto stated = attribute_of(pickle, ref, "_rank");  // from 2.10 on
  if (stated && pickle[*stated].kind == PickleKind::kInt && pickle[*stated].number >= 0) return pickle[*stated].number;
  const auto place = attribute_of(pickle, ref, "_coordinate_on_dim");
  const auto coordinate = place ? integers_of(pickle, *place, kMaxRank) : std::nullopt;
  const auto mesh = coordinate ? mesh_of(pickle, ref) : std::nullopt;
  if (!mesh || coordinate->size() != mesh->shape.size()) return std::nullopt;
  int64_t index = 0;
  for (size_t dim = 0; dim < mesh->shape.size(); ++dim) {
    if ((*coordinate)[dim] >= mesh->shape[dim]) return std::nullopt;
    index = index * mesh->shape[dim] + (*coordinate)[dim];
  }
  return mesh->ranks[static_cast<size_t>(index)];
}

report::List texts_of(const Pickle& pickle, PickleRef ref) {
  report::List list;
  for (const PickleRef item : pickle[ref].items) {
    if (pickle[item].kind != PickleKind::kText || list.size() == kMaxRank) return {};
    list.emplace_back(std::string(pickle[item].text.substr(0, kLongestWord)));
  }
  return list;
}

}  // namespace

std::optional<PickleRef> attribute_of(const Pickle& pickle, PickleRef object, std::string_view name) {
  const PickleValue* const dict = dict_of(pickle, object);
  for (size_t i = 1; dict != nullptr && i < dict->items.size(); i += 2) {
    const PickleValue& key = pickle[dict->items[i - 1]];
    if (key.kind == PickleKind::kText && key.text == name) return dict->items[i];
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> integers_of(const Pickle& pickle, PickleRef ref, size_t most) {
  const PickleValue* value = &pickle[ref];
  // torch.Size((2, 3))
  if (value->kind == PickleKind::kCall && pickle[value->argument].items.size() == 1)
    value = &pickle[pickle[value->argument].items[0]];
  if ((value->kind != PickleKind::kTuple && value->kind != PickleKind::kList) || value->items.size() > most)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const PickleRef item : value->items) {
    if (pickle[item].kind != PickleKind::kInt || pickle[item].number < 0) return std::nullopt;
    numbers.push_back(pickle[item].number);
  }
  return numbers;
}

std::string_view class_of(const Pickle& pickle, const PickleValue& call) {
  const std::string_view name = pickle.global_of(pickle[call.callable]);
  return name.substr(name.rfind('.') + 1);
}

std::optional<DTensorParts> dtensor_parts(const Pickle& pickle, PickleRef state) {
  std::vector<PickleRef> dicts{state};
  const PickleValue& value = pickle[state];
  constexpr size_t kMost = 2;  // attributes and slots
  if (value.kind == PickleKind::kTuple)
    dicts.assign(value.items.begin(), value.items.begin() + static_cast<int64_t>(std::min(value.items.size(), kMost)));
  for (const PickleRef dict : dicts) {
    const auto local = attribute_of(pickle, dict, "_local_tensor");
    if (local && pickle[*local].kind == PickleKind::kCall)
      return DTensorParts{*local, attribute_of(pickle, dict, "_spec")};
  }
  return std::nullopt;
}

std::string distribution_of(const Pickle& pickle, PickleRef spec) {
  const auto placements = attribute_of(pickle, spec, "placements");
  auto list = placements ? placements_of(pickle, *placements) : std::nullopt;
  if (!list) return {};
  report::Object object;
  const auto mesh = attribute_of(pickle, spec, "mesh");
  if (const auto known = mesh ? mesh_of(pickle, *mesh) : std::nullopt)
    object.add("device_mesh", nested(known->shape, known->ranks));
  object.add("placements", std::move(*list));
  const auto names = mesh ? attribute_of(pickle, *mesh, "mesh_dim_names") : std::nullopt;
  if (report::List words = names ? texts_of(pickle, *names) : report::List(); !words.empty())
    object.add("mesh_dim_names", std::move(words));
  const auto meta = attribute_of(pickle, spec, "tensor_meta");
  if (meta && pickle[*meta].kind == PickleKind::kCall) {
    const auto& fields = pickle[pickle[*meta].argument].items;
    if (const auto shape = fields.empty() ? std::nullopt : integers_of(pickle, fields[0], kMaxRank))
      object.add("global_shape", report::list_of(*shape));
  }
  std::string text;
  report::append_json(text, object);
  return text.size() <= kLongest ? text : std::string();
}

std::optional<int64_t> rank_of_meshes(const Pickle& pickle) {
  std::optional<int64_t> rank;
  size_t meshes = 0;
  for (PickleRef ref = 0; ref < pickle.values.size(); ++ref) {
    const PickleValue& value = pickle[ref];
    const bool is_object = value.kind == PickleKind::kCall && pickle[value.callable].kind == PickleKind::kGlobal;
    if (!is_object || class_of(pickle, value) != "DeviceMesh") continue;
    if (++meshes > kMostMeshes) return std::nullopt;
    const auto own = rank_in_mesh(pickle, ref);
    if (own && rank.value_or(*own) != *own) return std::nullopt;
    if (own) rank = own;
  }
  return rank;
}

}  // namespace msdump::torch
