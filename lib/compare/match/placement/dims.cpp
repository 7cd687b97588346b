#include "compare/match/placement/dims.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// What one parallel axis does.
struct Modifier {
  std::string_view parallel;
  PlacementRole role = PlacementRole::kCopy;
  uint32_t axis = 0;
  bool packed = false;  // on an axis t
};

struct Dims {
  size_t axes = 0;
  std::vector<Modifier> modifiers;  // of an axis the outermost first
};

std::vector<std::string_view> words_of(std::string_view text) {
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
  Modifier modifier{trimmed(text.substr(0, colon)), PlacementRole::kConcat, axis};
  if (modifier.parallel.empty()) return std::nullopt;
  if (colon == text.npos) return modifier;
  for (const std::string_view part : split(text.substr(colon + 1), '+')) {
    const std::string_view qualifier = trimmed(part);
    if (qualifier == "partial") {
      modifier.role = PlacementRole::kSum;
    } else if (qualifier == "zigzag") {
      if (modifier.role == PlacementRole::kConcat) modifier.role = PlacementRole::kZigzag;
    } else if (qualifier != "sharded" && qualifier != "natural") {
      return std::nullopt;
    }
  }
  if (modifier.role == PlacementRole::kSum) modifier.axis = 0;
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

// The ranks and the size of all processes in a parallel axis.
struct Coordinates {
  std::vector<int64_t> ranks;
  int64_t size = 1;  // 1: nobody has it
};

// A number of a member of an object; 0 if it is missing or no number.
int64_t number_in(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? 0 : value->as_int().value_or(0);
}

// Nothing if only some have it, or another size.
std::optional<Coordinates> coordinates_of(std::span<const JsonValue> locals, std::string_view parallel) {
  Coordinates found;
  for (const JsonValue& local : locals) {
    const JsonValue* const all = local.find("parallel");
    const JsonValue* const one = all == nullptr ? nullptr : all->find(parallel);
    if (one == nullptr) continue;
    const int64_t size = number_in(*one, "size");
    if (size < 2 || (found.size != 1 && found.size != size)) return std::nullopt;
    found.size = size;
    found.ranks.push_back(number_in(*one, "rank"));
  }
  return found.ranks.empty() || found.ranks.size() == locals.size() ? std::optional(found) : std::nullopt;
}

// A dimension of the mesh: processes that follow each other in it are `stride` apart.
struct StridedDim {
  size_t stride = 1;
  PlacementDim dim;
};

// Nothing if the coordinates are not those of a mesh.
std::optional<size_t> stride_of(const Coordinates& coordinates) {
  const std::vector<int64_t>& ranks = coordinates.ranks;
  const auto change = std::find_if(ranks.begin(), ranks.end(), [](int64_t rank) { return rank != 0; });
  if (change == ranks.begin() || change == ranks.end()) return std::nullopt;
  const auto stride = static_cast<size_t>(change - ranks.begin());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != static_cast<int64_t>(i / stride) % coordinates.size) return std::nullopt;
  }
  return stride;
}

// The dimensions fill the mesh, without gaps.
std::optional<Placement> mesh_of(std::vector<StridedDim> dims, size_t ranks) {
  std::stable_sort(dims.begin(), dims.end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
  Placement placement;
  size_t filled = 1;
  for (const StridedDim& one : dims) {
    if (one.stride != filled || one.dim.extent > static_cast<int64_t>(ranks / filled)) return std::nullopt;
    filled *= static_cast<size_t>(one.dim.extent);
    placement.dims.push_back(one.dim);
  }
  return filled == ranks ? std::optional(placement) : std::nullopt;
}

}  // namespace

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
    const auto coordinates = coordinates_of(locals, modifier.parallel);
    if (!coordinates) return std::nullopt;
    if (coordinates->size == 1) continue;
    const auto stride = stride_of(*coordinates);
    if (!stride || (modifier.packed && modifier.parallel == "cp")) return std::nullopt;
    // Sequence parallelism (sp) is of the ranks of tp, which is then no copy.
    const auto is_known = [&](const StridedDim& one) {
      return one.stride == *stride && one.dim.extent == coordinates->size;
    };
    if (modifier.role == PlacementRole::kCopy && std::any_of(mesh.begin(), mesh.end(), is_known)) continue;
    // The outer one of two that shard an axis is the slower, as in a Placement.
    const PlacementDim dim{coordinates->size, modifier.role, modifier.axis};
    const auto is_faster = [&](const StridedDim& one) {
      return dim.traits().shards() && one.dim.traits().shards() && one.dim.axis == dim.axis && one.stride < *stride;
    };
    if (std::any_of(mesh.begin(), mesh.end(), is_faster)) return std::nullopt;
    mesh.push_back({*stride, dim});
  }
  return mesh_of(std::move(mesh), locals.size());
}

}  // namespace msdump
