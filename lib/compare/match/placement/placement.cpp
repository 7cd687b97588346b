#include "compare/match/placement/placement.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/containers.h"
#include "base/numbers.h"
#include "base/text.h"
#include "dump/index/tensor_list.h"

namespace msdump {
namespace {

// Splits a segment at the borders of units, and moves each part to the place of its unit.
template <class Place>
std::vector<AxisSegment> rearranged(const std::vector<AxisSegment>& segments, int64_t unit, const Place& place) {
  std::vector<AxisSegment> result;
  for (const AxisSegment& one : segments) {
    for (int64_t done = 0; done < one.size;) {
      const int64_t at = one.to + done, part = at / unit, inside = at % unit;
      const int64_t size = std::min(one.size - done, unit - inside);
      result.push_back({one.from + done, place(part) * unit + inside, size});
      done += size;
    }
  }
  return result;
}

}  // namespace

// AxisSegments: the positions of a local tensor's elements along one axis of what the faster dimensions of the mesh
// assemble. The roles extend it dimension by dimension. Each function returns false if the extent does not suit the role.
class AxisSegments {
 public:
  explicit AxisSegments(int64_t extent) : segments_({{0, 0, extent}}), extent_(extent) {}

  bool concat(int64_t coordinate, int64_t ranks, std::span<const int64_t> parts) {
    const auto before = parts.first(parts.empty() ? 0 : static_cast<size_t>(coordinate));
    const auto sum = [](std::span<const int64_t> some) {
      return std::accumulate(some.begin(), some.end(), int64_t{0});
    };
    const int64_t offset = parts.empty() ? coordinate * extent_ : sum(before);
    for (AxisSegment& one : segments_) one.to += offset;
    extent_ = parts.empty() ? ranks * extent_ : sum(parts);
    return true;
  }

  // Each block is sharded by itself.
  bool concat_blocks(const std::vector<int64_t>& sizes, int64_t coordinate, int64_t ranks) {
    const int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    if (all == 0 || extent_ % all != 0) return false;
    const int64_t unit = extent_ / all;
    std::vector<AxisSegment> parts;
    for (const AxisSegment& one : segments_) {
      int64_t begin = 0;
      for (const int64_t size : sizes) {
        const int64_t end = begin + size * unit;
        const int64_t first = std::max(one.to, begin), last = std::min(one.to + one.size, end);
        if (first < last) {
          const int64_t to = begin * ranks + coordinate * size * unit + first - begin;
          parts.push_back({one.from + first - one.to, to, last - first});
        }
        begin = end;
      }
    }
    segments_ = std::move(parts);
    extent_ *= ranks;
    return true;
  }

  bool zigzag(int64_t coordinate, int64_t ranks, int64_t blocks) {
    const int64_t halves = 2 * blocks;
    if (extent_ % halves != 0) return false;
    segments_ = rearranged(segments_, extent_ / halves, [&](int64_t part) {
      return part / 2 * 2 * ranks + (part % 2 == 0 ? coordinate : 2 * ranks - 1 - coordinate);
    });
    extent_ *= ranks;
    return true;
  }

  // Turns the order of the ranks of a zigzag (shards 0 and 2n-1, 1 and 2n-2, ..) into that of the tensor.
  bool undo_zigzag(int64_t ranks) {
    if (ranks < 1 || extent_ % (2 * ranks) != 0) return false;
    segments_ = rearranged(segments_, extent_ / (2 * ranks),
                           [&](int64_t part) { return part % 2 == 0 ? part / 2 : 2 * ranks - 1 - part / 2; });
    return true;
  }

  // Cuts off what reaches beyond the tensor. False if that is more than `padding`.
  bool clip(int64_t extent, int64_t padding) {
    if (extent_ < extent || extent_ - extent > padding) return false;
    for (AxisSegment& one : segments_) one.size = std::clamp<int64_t>(extent - one.to, 0, one.size);
    std::erase_if(segments_, [](const AxisSegment& one) { return one.size == 0; });
    return true;
  }

  [[nodiscard]] const std::vector<AxisSegment>& segments() const { return segments_; }

 private:
  std::vector<AxisSegment> segments_;
  int64_t extent_;
};

namespace {

bool place_concat(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate, std::span<const int64_t> parts) {
  return dim.groups.empty() ? axis.concat(coordinate, dim.extent, parts)
                            : axis.concat_blocks(dim.groups, coordinate, dim.extent);
}

bool place_zigzag(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate, std::span<const int64_t> /*parts*/) {
  return axis.zigzag(coordinate, dim.extent, dim.blocks());
}

bool place_gathered(AxisSegments& axis, const PlacementDim& dim, int64_t /*coordinate*/,
                    std::span<const int64_t> /*parts*/) {
  return !dim.groups.empty() && axis.undo_zigzag(dim.groups.front());
}

constexpr auto kRoles = enum_table<PlacementRole, RoleTraits>(
    RoleTraits{.name = "copy", .keys = "by", .merges = true},
    RoleTraits{.name = "sum", .keys = "by", .cost = 3, .reduction = PieceOverlap::kAdded},
    RoleTraits{.name = "mean", .keys = "by", .cost = 3, .reduction = PieceOverlap::kAdded, .averages = true},
    RoleTraits{
        .name = "max", .keys = "by", .cost = 3, .stage = PlacementStage::kMaxima, .reduction = PieceOverlap::kLargest},
    RoleTraits{.name = "concat",
               .keys = "axis by blocks",
               .cost = 2,
               .merges = true,
               .may_be_uneven = true,
               .place = place_concat},
    RoleTraits{
        .name = "zigzag", .keys = "axis by blocks", .cost = 4, .stage = PlacementStage::kZigzag, .place = place_zigzag},
    RoleTraits{.name = "gathered",
               .keys = "axis of",
               .cost = 4,
               .stage = PlacementStage::kZigzag,
               .is_mesh_dim = false,
               .place = place_gathered});

// The extents along an axis of the shards that the last of `dims` assembles, in their order. The shards are those of ranks
// that differ from `rank` in this and the faster dimensions alone. Empty if the role needs equal shards and they are not, or
// a local tensor has no such axis.
//
// Cost: the ranks that hold a part. The recursion is as deep as there are dimensions.
std::vector<int64_t> extents_of_shards(std::span<const PlacementDim> dims, int64_t rank, uint32_t axis,
                                       std::span<const Shape> locals) {
  if (dims.empty()) {
    const Shape& own = locals[static_cast<size_t>(rank)];
    return axis < own.size() ? std::vector<int64_t>{own[axis]} : std::vector<int64_t>();
  }
  const PlacementDim& dim = dims.back();
  const std::span<const PlacementDim> faster = dims.first(dims.size() - 1);
  if (!dim.traits().shards() || dim.axis != axis) return extents_of_shards(faster, rank, axis, locals);
  int64_t stride = 1;
  for (const PlacementDim& one : faster) stride *= one.extent;
  const int64_t first = rank - rank / stride % dim.extent * stride;
  std::vector<int64_t> extents;
  for (int64_t i = 0; i < dim.extent; ++i) {
    const std::vector<int64_t> inner = extents_of_shards(faster, first + i * stride, axis, locals);
    if (inner.empty()) return {};
    extents.push_back(std::accumulate(inner.begin(), inner.end(), int64_t{0}));
  }
  const bool even = std::adjacent_find(extents.begin(), extents.end(), std::not_equal_to<>()) == extents.end();
  if (!even && (!dim.traits().may_be_uneven || dim.has_blocks())) return {};
  return extents;
}

std::string text_of(const PlacementDim& dim) {
  const RoleTraits& role = dim.traits();
  std::string text(role.name);
  if (role.has_key("axis")) text += fmt::format(" axis {}", dim.axis);
  if (role.has_key("of")) text += fmt::format(" of a zigzag of {} ranks", dim.groups.front());
  if (!dim.has_blocks()) return text;
  const bool alike =
      std::all_of(dim.groups.begin(), dim.groups.end(), [&](int64_t one) { return one == dim.groups.front(); });
  return text + (alike ? fmt::format(" in {} blocks", dim.groups.size())
                       : fmt::format(" in blocks of {}", fmt::join(dim.groups, ":")));
}

}  // namespace

std::span<const RoleTraits> all_roles() { return kRoles.values; }

bool RoleTraits::has_key(std::string_view key) const {
  const std::vector<std::string_view> all = split(keys, ' ');
  return std::find(all.begin(), all.end(), key) != all.end();
}

int64_t PlacementDim::blocks() const {
  if (!traits().is_mesh_dim) return groups.front();
  return std::max<int64_t>(static_cast<int64_t>(groups.size()), 1);
}

int64_t Placement::ranks() const {
  int64_t count = 1;
  for (const PlacementDim& dim : dims) count *= dim.extent;
  return count;
}

bool Placement::has(PlacementRole role) const {
  return std::any_of(dims.begin(), dims.end(), [&](const PlacementDim& dim) { return dim.role == role; });
}

PieceOverlap Placement::reduction() const {
  PieceOverlap reduction = PieceOverlap::kNone;
  for (const PlacementDim& dim : dims) reduction = std::max(reduction, dim.traits().reduction);
  return reduction;
}

bool Placement::is_sharded() const {
  return std::any_of(dims.begin(), dims.end(), [](const PlacementDim& dim) { return dim.traits().shards(); });
}

bool Placement::shards(uint32_t axis) const {
  return std::any_of(dims.begin(), dims.end(),
                     [&](const PlacementDim& dim) { return dim.traits().shards() && dim.axis == axis; });
}

bool Placement::reorders() const {
  return std::any_of(dims.begin(), dims.end(), [](const PlacementDim& dim) { return !dim.traits().is_mesh_dim; });
}

double Placement::scale() const {
  double scale = factor;
  for (const PlacementDim& dim : dims) {
    if (dim.traits().averages) scale /= static_cast<double>(dim.extent);
  }
  return scale;
}

int64_t Placement::copies() const {
  int64_t count = 1;
  for (const PlacementDim& dim : dims) {
    if (dim.role == PlacementRole::kCopy) count *= dim.extent;
  }
  return count;
}

int64_t Placement::copy_of(int64_t rank) const {
  int64_t copy = 0, scale = 1;
  for (const PlacementDim& dim : dims) {
    if (dim.role == PlacementRole::kCopy) {
      copy += rank % dim.extent * scale;
      scale *= dim.extent;
    }
    rank /= dim.extent;
  }
  return copy;
}

Placement Placement::after_reduction() const {
  Placement result = *this;
  for (PlacementDim& dim : result.dims) {
    if (dim.traits().reduction != PieceOverlap::kNone) dim.role = PlacementRole::kCopy;
  }
  return result;
}

std::string text_of(const Placement& placement, std::span<const int64_t> ranks) {
  if (ranks.size() < 2) return placement.factor == 1 ? std::string() : fmt::format("times {:.6g}", placement.factor);
  std::vector<std::string> parts;
  for (const PlacementDim& dim : placement.dims) {
    parts.push_back(text_of(dim));
    if (placement.dims.size() > 1 && dim.extent > 1) parts.back() += fmt::format(" by {}", dim.extent);
  }
  std::string text = fmt::format("{} of ranks {}", fmt::join(parts, ", "), ranges_text(ranks));
  if (placement.factor != 1) text += fmt::format(", times {:.6g}", placement.factor);
  return text;
}

LocalShapes::LocalShapes(std::span<const Shape> locals) : shapes(locals) {
  are_equal = std::all_of(locals.begin(), locals.end(), [&](const Shape& one) { return one == locals.front(); });
}

std::vector<std::vector<AxisSegment>> segments_of(const Placement& placement, int64_t rank, const LocalShapes& locals,
                                                  const Shape& global) {
  const Shape& own = locals.shapes[static_cast<size_t>(rank)];
  if (own.size() != global.size()) return {};
  std::vector<AxisSegments> axes;
  axes.reserve(global.size());
  for (const int64_t extent : own) axes.emplace_back(extent);
  int64_t stride = 1;
  for (size_t i = 0; i < placement.dims.size(); ++i) {
    const PlacementDim& dim = placement.dims[i];
    const RoleTraits& role = dim.traits();
    const int64_t coordinate = rank / stride % dim.extent;
    stride *= dim.extent;
    if (role.place == nullptr) continue;
    if (dim.axis >= axes.size()) return {};
    std::vector<int64_t> parts;
    if (role.shards() && !locals.are_equal) {
      parts = extents_of_shards(std::span(placement.dims).first(i + 1), rank, dim.axis, locals.shapes);
      if (parts.empty()) return {};
    }
    if (!role.place(axes[dim.axis], dim, coordinate, parts)) return {};
  }
  std::vector<std::vector<AxisSegment>> segments;
  for (size_t axis = 0; axis < global.size(); ++axis) {
    const bool may_pad = placement.shards(static_cast<uint32_t>(axis));
    if (!axes[axis].clip(global[axis], may_pad ? own[axis] - 1 : 0) || axes[axis].segments().empty()) return {};
    segments.push_back(axes[axis].segments());
  }
  return segments;
}

std::vector<PieceBox> boxes_of(const Placement& placement, int64_t rank, const LocalShapes& locals,
                               const Shape& global) {
  const auto segments = segments_of(placement, rank, locals, global);
  if (segments.size() != global.size()) return {};
  std::vector<PieceBox> boxes(1);
  boxes.front().piece = static_cast<uint32_t>(rank);
  for (const std::vector<AxisSegment>& of_axis : segments) {
    std::vector<PieceBox> longer;
    for (const PieceBox& box : boxes) {
      for (const AxisSegment& segment : of_axis) {
        PieceBox& next = longer.emplace_back(box);
        next.from.push_back(segment.from);
        next.to.push_back(segment.to);
        next.size.push_back(segment.size);
      }
    }
    boxes = std::move(longer);
  }
  return boxes;
}

TensorPieces pieces_of(const Placement& placement, std::span<const TensorRecord* const> records, const Shape& global,
                       int64_t copy) {
  std::vector<Shape> all;
  for (const TensorRecord* const record : records) all.push_back(*record->shape);
  const LocalShapes shapes(all);
  TensorPieces pieces;
  pieces.shape = global;
  pieces.factor = placement.scale();
  pieces.overlap = placement.reduction();
  for (int64_t rank = 0; rank < static_cast<int64_t>(records.size()); ++rank) {
    if (placement.copy_of(rank) != copy) continue;
    for (PieceBox& box : boxes_of(placement, rank, shapes, global)) {
      box.piece = static_cast<uint32_t>(pieces.records.size());
      pieces.boxes.push_back(std::move(box));
    }
    pieces.records.push_back(records[static_cast<size_t>(rank)]);
  }
  const bool one = pieces.boxes.size() == 1 && pieces.factor == 1 && *pieces.records.front()->shape == global;
  if (one) pieces.boxes.clear();
  return pieces;
}

}  // namespace msdump
