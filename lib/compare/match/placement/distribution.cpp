#include "compare/match/placement/distribution.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/placement/dims.h"
#include "io/json.h"

namespace msdump {
namespace {

std::optional<std::vector<int64_t>> integers_in(const JsonValue* list) {
  if (list == nullptr || !list->is(JsonKind::kArray)) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const JsonValue& item : list->items) {
    const auto number = item.as_int();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// The extents of a mesh, the slowest first, and its ranks in their order. Nothing if it is ragged.
struct Mesh {
  std::vector<int64_t> extents, ranks;
};

bool add_mesh(const JsonValue& value, size_t dim, Mesh& mesh) {
  if (!value.is(JsonKind::kArray)) {
    const auto rank = value.as_int();
    if (!rank || dim != mesh.extents.size()) return false;
    mesh.ranks.push_back(*rank);
    return true;
  }
  const auto extent = static_cast<int64_t>(value.items.size());
  if (dim >= kFewTried || extent == 0) return false;
  if (dim == mesh.extents.size() && mesh.ranks.empty()) mesh.extents.push_back(extent);
  return dim < mesh.extents.size() && mesh.extents[dim] == extent &&
         std::all_of(value.items.begin(), value.items.end(),
                     [&](const JsonValue& item) { return add_mesh(item, dim + 1, mesh); });
}

struct Word {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

// "_StridedShard(0, 2)"
Word word_in(std::string_view text) {
  const size_t open = text.find('(');
  Word word{text.substr(0, open), {}};
  if (open == std::string_view::npos || !text.ends_with(')')) return word;
  for (const std::string_view argument : split(text.substr(open + 1, text.size() - open - 2), ','))
    word.arguments.push_back(trimmed(argument));
  return word;
}

// A placement of PyTorch along a dimension of the mesh.
std::optional<PlacementDim> torch_dim(std::string_view text, int64_t extent) {
  const Word word = word_in(text);
  const std::string_view first = word.arguments.empty() ? std::string_view() : word.arguments.front();
  PlacementDim dim{extent};
  if (word.name == "Replicate") return dim;
  if (word.name == "Partial") {
    dim.role = first == "avg" ? PlacementRole::kMean : first == "max" ? PlacementRole::kMax : PlacementRole::kSum;
    return first.empty() || first == "sum" || first == "avg" || first == "max" ? std::optional(dim) : std::nullopt;
  }
  const auto axis = parse_i64(first);
  if (!axis || *axis < 0 || *axis >= int64_t{kMostTried}) return std::nullopt;
  dim.role = PlacementRole::kConcat;
  dim.axis = static_cast<uint32_t>(*axis);
  if (word.name == "Shard") return dim;
  if (word.name != "_StridedShard" || word.arguments.size() < 2) return std::nullopt;
  // A faster dimension sharded the axis first: each of its `split` shards is sharded here.
  const auto split = parse_i64(word.arguments[1]);
  if (!split || *split < 1 || *split > kMostBlocks) return std::nullopt;
  if (*split > 1) dim.groups.assign(static_cast<size_t>(*split), 1);
  return dim;
}

std::optional<Placement> torch_placement(const JsonValue& mesh_value, const JsonValue& placements,
                                         std::span<const int64_t> ranks) {
  Mesh mesh;
  if (!add_mesh(mesh_value, 0, mesh) || !placements.is(JsonKind::kArray)) return std::nullopt;
  const bool of_ranks = std::equal(mesh.ranks.begin(), mesh.ranks.end(), ranks.begin(), ranks.end());
  if (!of_ranks || placements.items.size() != mesh.extents.size()) return std::nullopt;
  Placement placement;
  for (size_t i = mesh.extents.size(); i-- > 0;) {
    const auto dim = torch_dim(placements.items[i].text, mesh.extents[i]);
    if (!dim) return std::nullopt;
    if (dim->extent > 1) placement.dims.push_back(*dim);
  }
  return placement;
}

// MindSpore's layout: axis i of the tensor is sharded by the dimension of the device matrix that has the number tensor_map[i],
// counted from the last one; -1: by none.
std::optional<Placement> mindspore_placement(const JsonValue& layout, std::span<const int64_t> ranks) {
  const auto matrix = integers_in(layout.find("device_matrix")), map = integers_in(layout.find("tensor_map"));
  if (!matrix || !map || matrix->size() > kFewTried || map->size() > kMostTried) return std::nullopt;
  if (const JsonValue* const partial = layout.find("partial"); partial != nullptr && !partial->items.empty())
    return std::nullopt;
  if (const auto listed = integers_in(layout.find("rank_list"));
      listed && !std::equal(listed->begin(), listed->end(), ranks.begin(), ranks.end()))
    return std::nullopt;
  Placement placement;
  int64_t all = 1;
  for (size_t i = 0; i < matrix->size(); ++i) {
    PlacementDim dim{(*matrix)[matrix->size() - 1 - i]};
    if (dim.extent < 1 || dim.extent > static_cast<int64_t>(ranks.size())) return std::nullopt;
    all *= dim.extent;
    if (all > static_cast<int64_t>(ranks.size())) return std::nullopt;
    const auto axis = std::find(map->begin(), map->end(), static_cast<int64_t>(i));
    if (axis != map->end()) {
      dim.role = PlacementRole::kConcat;
      dim.axis = static_cast<uint32_t>(axis - map->begin());
    }
    if (dim.extent > 1) placement.dims.push_back(dim);
  }
  return all == static_cast<int64_t>(ranks.size()) ? std::optional(placement) : std::nullopt;
}

std::optional<Placement> placement_in(const JsonValue& json, std::span<const int64_t> ranks) {
  const JsonValue* const mesh = json.find("device_mesh");
  const JsonValue* const placements = json.find("placements");
  if (mesh != nullptr && placements != nullptr) return torch_placement(*mesh, *placements, ranks);
  return mindspore_placement(json, ranks);
}

// Each rank states its own place.
std::optional<Placement> placement_of_dims(std::span<const TensorRecord* const> locals) {
  std::vector<JsonValue> all;
  for (const TensorRecord* const local : locals) {
    auto json = parse_json(*local->distribution);
    if (!json || local->shape == nullptr) return std::nullopt;
    all.push_back(std::move(*json));
  }
  return placement_of_dims(all, locals.front()->shape->size());
}

}  // namespace

std::optional<Placement> placement_in(std::string_view distribution, std::span<const int64_t> ranks) {
  const auto json = parse_json(distribution);
  return json ? placement_in(*json, ranks) : std::nullopt;
}

std::optional<Placement> placement_in(std::span<const TensorRecord* const> locals, std::span<const int64_t> ranks) {
  const auto states = [](const TensorRecord* local) { return local != nullptr && local->distribution != nullptr; };
  if (locals.empty() || !std::all_of(locals.begin(), locals.end(), states)) return std::nullopt;
  const std::string_view first = *locals.front()->distribution;
  const auto json = parse_json(first);
  if (json && json->find("dims") != nullptr) return placement_of_dims(locals);
  const bool is_one = std::all_of(locals.begin(), locals.end(),
                                  [&](const TensorRecord* local) { return *local->distribution == first; });
  return json && is_one ? placement_in(*json, ranks) : std::nullopt;
}

}  // namespace msdump
