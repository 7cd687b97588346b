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
// The positions of a local tensor's elements along one axis of what the faster dimensions of the mesh assemble. The roles
// extend it dimension by dimension.
struct AxisSegments {
  std::vector<AxisSegment> segments;
  int64_t extent;
};

namespace {

int64_t sum_of(std::span<const int64_t> extents) { return std::accumulate(extents.begin(), extents.end(), int64_t{0}); }

// Splits the segments at the borders of `parts` equal parts, and moves each to the place of its part. False if the extent is
// no multiple of them.
template <class Place>
bool rearrange(AxisSegments& axis, int64_t parts, const Place& place) {
  if (parts < 1 || axis.extent % parts != 0) return false;
  const int64_t unit = axis.extent / parts;
  std::vector<AxisSegment> result;
  for (const AxisSegment& one : axis.segments) {
    for (int64_t done = 0; done < one.size;) {
      const int64_t at = one.to + done, inside = at % unit, size = std::min(one.size - done, unit - inside);
      result.push_back({one.from + done, place(at / unit) * unit + inside, size});
      done += size;
    }
  }
  axis.segments = std::move(result);
  return true;
}

// Each block is sharded by itself.
bool place_blocks(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate) {
  const int64_t all = sum_of(dim.groups);
  if (all == 0 || axis.extent % all != 0) return false;
  const int64_t unit = axis.extent / all;
  std::vector<AxisSegment> parts;
  for (const AxisSegment& one : axis.segments) {
    int64_t begin = 0;
    for (const int64_t size : dim.groups) {
      const int64_t end = begin + size * unit;
      const int64_t first = std::max(one.to, begin), last = std::min(one.to + one.size, end);
      const int64_t to = begin * dim.extent + coordinate * size * unit + first - begin;
      if (first < last) parts.push_back({one.from + first - one.to, to, last - first});
      begin = end;
    }
  }
  axis = {std::move(parts), axis.extent * dim.extent};
  return true;
}

bool place_concat(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate, std::span<const int64_t> parts) {
  if (!dim.groups.empty()) return place_blocks(axis, dim, coordinate);
  const int64_t offset =
      parts.empty() ? coordinate * axis.extent : sum_of(parts.first(static_cast<size_t>(coordinate)));
  for (AxisSegment& one : axis.segments) one.to += offset;
  axis.extent = parts.empty() ? dim.extent * axis.extent : sum_of(parts);
  return true;
}

bool place_zigzag(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate, std::span<const int64_t> /*parts*/) {
  const bool fits = rearrange(axis, 2 * dim.blocks(), [&](int64_t part) {
    return part / 2 * 2 * dim.extent + (part % 2 == 0 ? coordinate : 2 * dim.extent - 1 - coordinate);
  });
  axis.extent *= dim.extent;
  return fits;
}

// Turns the order of the ranks of a zigzag (shards 0 and 2n-1, 1 and 2n-2, ..) into that of the tensor.
bool place_gathered(AxisSegments& axis, const PlacementDim& dim, int64_t /*coordinate*/,
                    std::span<const int64_t> /*parts*/) {
  const int64_t shards = dim.groups.empty() ? 0 : 2 * dim.groups.front();
  return rearrange(axis, shards, [&](int64_t part) { return part % 2 == 0 ? part / 2 : shards - 1 - part / 2; });
}

// Cuts off what reaches beyond the tensor. False if that is more than `padding`, or nothing is left.
bool clip(AxisSegments& axis, int64_t extent, int64_t padding) {
  if (axis.extent < extent || axis.extent - extent > padding) return false;
  for (AxisSegment& one : axis.segments) one.size = std::clamp<int64_t>(extent - one.to, 0, one.size);
  std::erase_if(axis.segments, [](const AxisSegment& one) { return one.size == 0; });
  return !axis.segments.empty();
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
    extents.push_back(sum_of(inner));
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
  for (const int64_t extent : own) axes.push_back({{{0, 0, extent}}, extent});
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
    if (!clip(axes[axis], global[axis], may_pad ? own[axis] - 1 : 0)) return {};
    segments.push_back(std::move(axes[axis].segments));
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
