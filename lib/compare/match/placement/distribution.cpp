#include "compare/match/placement/distribution.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "compare/limits.h"

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

// The placement along one parallel axis, as SGLang's dumper writes it.
struct Modifier {
  std::string_view parallel;
  PlacementDim dim = {};
  bool packed = false;  // on an axis t
};

struct Dims {
  size_t axes = 0;
  std::vector<Modifier> modifiers;  // of an axis the outermost first
};

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kBlanks); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<Modifier> modifier_in(std::string_view text, uint32_t axis) {
  const size_t colon = text.find(':');
  Modifier modifier{trimmed(text.substr(0, colon)), {1, PlacementRole::kConcat, axis}};
  if (modifier.parallel.empty()) return std::nullopt;
  if (colon == text.npos) return modifier;
  for (const std::string_view part : split(text.substr(colon + 1), '+')) {
    const std::string_view qualifier = trimmed(part);
    if (qualifier == "partial") {
      modifier.dim = {1, PlacementRole::kSum};
    } else if (qualifier == "zigzag") {
      if (modifier.dim.role == PlacementRole::kConcat) modifier.dim.role = PlacementRole::kZigzag;
    } else if (qualifier != "sharded" && qualifier != "natural") {
      return std::nullopt;
    }
  }
  return modifier;
}

std::optional<Dims> dims_in(std::string_view text) {
  const size_t hash = text.find('#');
  Dims dims;
  for (const std::string_view word : words_of(text.substr(0, hash))) {
    const size_t open = word.find('[');
    if (open != word.npos) {
      if (!word.ends_with(']')) return std::nullopt;
      for (const std::string_view part : split(word.substr(open + 1, word.size() - open - 2), ',')) {
        auto modifier = modifier_in(part, static_cast<uint32_t>(dims.axes));
        if (!modifier) return std::nullopt;
        modifier->packed = word.substr(0, open) == "t";
        dims.modifiers.push_back(*modifier);
      }
    }
    ++dims.axes;
  }
  constexpr std::string_view kReplicated = ":replicated";
  std::vector<std::string_view> copies{"tp", "cp"};
  for (const std::string_view word : words_of(hash == text.npos ? std::string_view() : text.substr(hash + 1))) {
    if (word.ends_with(kReplicated)) copies.push_back(word.substr(0, word.size() - kReplicated.size()));
  }
  for (const std::string_view parallel : copies) {
    const bool is_named = std::any_of(dims.modifiers.begin(), dims.modifiers.end(),
                                      [&](const Modifier& modifier) { return modifier.parallel == parallel; });
    if (!is_named) dims.modifiers.push_back({parallel});
  }
  return dims;
}

// A number of a member of an object; 0 if it is missing or no number.
int64_t number_in(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? 0 : value->as_int().value_or(0);
}

// A dimension of the mesh: processes that follow each other in it are `stride` apart.
struct StridedDim {
  size_t stride = 1;
  PlacementDim dim;
};

// The extent is 1 if nobody has the parallel axis. Nothing if only some have it, in several sizes, or not as in a mesh.
std::optional<StridedDim> strided_dim(std::span<const JsonValue> locals, const Modifier& modifier) {
  StridedDim found{1, modifier.dim};
  std::vector<int64_t> ranks;
  for (const JsonValue& local : locals) {
    const JsonValue* const all = local.find("parallel");
    const JsonValue* const one = all == nullptr ? nullptr : all->find(modifier.parallel);
    if (one == nullptr) continue;
    const int64_t size = number_in(*one, "size");
    if (size < 2 || (!ranks.empty() && found.dim.extent != size)) return std::nullopt;
    found.dim.extent = size;
    ranks.push_back(number_in(*one, "rank"));
  }
  if (ranks.empty()) return found;
  const auto change = std::find_if(ranks.begin(), ranks.end(), [](int64_t rank) { return rank != 0; });
  if (ranks.size() != locals.size() || change == ranks.begin() || change == ranks.end()) return std::nullopt;
  found.stride = static_cast<size_t>(change - ranks.begin());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != static_cast<int64_t>(i / found.stride) % found.dim.extent) return std::nullopt;
  }
  return found;
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

std::optional<Placement> placement_of_dims(std::span<const JsonValue> locals, size_t axes) {
  const JsonValue* const text = locals.empty() ? nullptr : locals.front().find("dims");
  if (text == nullptr) return std::nullopt;
  const bool is_one = std::all_of(locals.begin(), locals.end(), [&](const JsonValue& local) {
    const JsonValue* const other = local.find("dims");
    return other != nullptr && other->text == text->text;
  });
  const auto dims = is_one ? dims_in(text->text) : std::nullopt;
  if (!dims || dims->axes != axes) return std::nullopt;
  std::vector<StridedDim> mesh;
  for (const Modifier& modifier : dims->modifiers) {
    const auto found = strided_dim(locals, modifier);
    if (!found) return std::nullopt;
    if (found->dim.extent == 1) continue;
    if (modifier.packed && modifier.parallel == "cp") return std::nullopt;
    // Sequence parallelism (sp) is of the ranks of tp, which is then no copy.
    const bool is_known = std::any_of(mesh.begin(), mesh.end(), [&](const StridedDim& one) {
      return one.stride == found->stride && one.dim.extent == found->dim.extent;
    });
    if (modifier.dim.role == PlacementRole::kCopy && is_known) continue;
    // The outer one of two that shard an axis is the slower, as in a Placement.
    const bool is_slower = std::any_of(mesh.begin(), mesh.end(), [&](const StridedDim& one) {
      return found->dim.traits().shards() && one.dim.traits().shards() && one.dim.axis == found->dim.axis &&
             one.stride < found->stride;
    });
    if (is_slower) return std::nullopt;
    mesh.push_back(*found);
  }
  std::stable_sort(mesh.begin(), mesh.end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
  // The dimensions fill the mesh, without gaps.
  Placement placement;
  size_t filled = 1;
  for (const auto& [stride, dim] : mesh) {
    if (stride != filled || dim.extent > static_cast<int64_t>(locals.size() / filled)) return std::nullopt;
    filled *= static_cast<size_t>(dim.extent);
    placement.dims.push_back(dim);
  }
  return filled == locals.size() ? std::optional(placement) : std::nullopt;
}

}  // namespace msdump
