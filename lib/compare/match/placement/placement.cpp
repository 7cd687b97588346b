#include "compare/match/placement/placement.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/containers.h"
#include "dump/index/tensor_list.h"

namespace msdump {
namespace {

// Cuts a segment where its place in the larger one passes a border, and puts each part to its new place.
template <class Place>
std::vector<AxisSegment> placed(const std::vector<AxisSegment>& segments, int64_t unit, const Place& place) {
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

// Along one axis; `extent`: of what the faster dimensions have put together.
class AxisCut {
 public:
  explicit AxisCut(int64_t extent) : segments_({{0, 0, extent}}), extent_(extent) {}

  void concat(int64_t offset, int64_t extent) {
    for (AxisSegment& one : segments_) one.to += offset;
    extent_ = extent;
  }

  bool zigzag(int64_t place, int64_t ranks, int64_t groups) {
    const int64_t halves = 2 * groups;
    if (extent_ % halves != 0) return false;
    segments_ = placed(segments_, extent_ / halves, [&](int64_t part) {
      return part / 2 * 2 * ranks + (part % 2 == 0 ? place : 2 * ranks - 1 - place);
    });
    extent_ *= ranks;
    return true;
  }

  // Parts 0 and 2n-1, then 1 and 2n-2, ..
  bool reorder(int64_t ranks) {
    if (ranks < 1 || extent_ % (2 * ranks) != 0) return false;
    segments_ = placed(segments_, extent_ / (2 * ranks),
                       [&](int64_t part) { return part % 2 == 0 ? part / 2 : 2 * ranks - 1 - part / 2; });
    return true;
  }

  // Each group of what has been put together is cut by itself.
  bool groups(const std::vector<int64_t>& sizes, int64_t place, int64_t ranks) {
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
          const int64_t to = begin * ranks + place * size * unit + first - begin;
          parts.push_back({one.from + first - one.to, to, last - first});
        }
        begin = end;
      }
    }
    segments_ = std::move(parts);
    extent_ *= ranks;
    return true;
  }

  // What reaches beyond the tensor is padding, of which the last rank has less than all it has.
  bool clip(int64_t extent, int64_t padding) {
    if (extent_ < extent || extent_ - extent > padding) return false;
    for (AxisSegment& one : segments_) one.size = std::clamp<int64_t>(extent - one.to, 0, one.size);
    std::erase_if(segments_, [](const AxisSegment& one) { return one.size == 0; });
    return true;
  }

  [[nodiscard]] const std::vector<AxisSegment>& segments() const { return segments_; }
  [[nodiscard]] int64_t extent() const { return extent_; }

 private:
  std::vector<AxisSegment> segments_;
  int64_t extent_;
};

// The extents along an axis of the parts that the last of `dims` puts together, in the order of their places: those with
// the place of `rank` in the slower dimensions. Each is what the faster dimensions have put together of pieces of these
// shapes. Empty where a zigzag or groups have parts of different extents, or a piece has no such axis.
//
// Cost: the ranks that have a part of it. The recursion is as deep as there are dimensions.
std::vector<int64_t> extents_of_parts(std::span<const CutDim> dims, int64_t rank, uint32_t axis,
                                      std::span<const Shape> pieces) {
  if (dims.empty()) {
    const Shape& own = pieces[static_cast<size_t>(rank)];
    return axis < own.size() ? std::vector<int64_t>{own[axis]} : std::vector<int64_t>();
  }
  const CutDim& dim = dims.back();
  const std::span<const CutDim> faster = dims.first(dims.size() - 1);
  if (!is_cut(dim.role) || dim.axis != axis) return extents_of_parts(faster, rank, axis, pieces);
  int64_t stride = 1;
  for (const CutDim& one : faster) stride *= one.extent;
  const int64_t first = rank - rank / stride % dim.extent * stride;
  std::vector<int64_t> parts;
  for (int64_t i = 0; i < dim.extent; ++i) {
    const std::vector<int64_t> inner = extents_of_parts(faster, first + i * stride, axis, pieces);
    if (inner.empty()) return {};
    parts.push_back(std::accumulate(inner.begin(), inner.end(), int64_t{0}));
  }
  const bool even = std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
  if (!even && (dim.role == CutRole::kZigzag || !dim.groups.empty())) return {};
  return parts;
}

// Places what the faster dimensions have put together among the parts of `dim`. `parts`: their extents; empty: all alike.
bool put_together(AxisCut& axis, const CutDim& dim, int64_t place, const std::vector<int64_t>& parts) {
  if (dim.role == CutRole::kZigzag)
    return axis.zigzag(place, dim.extent, std::max<int64_t>(static_cast<int64_t>(dim.groups.size()), 1));
  if (!dim.groups.empty()) return axis.groups(dim.groups, place, dim.extent);
  const auto sum = [&](auto end) { return std::accumulate(parts.begin(), end, int64_t{0}); };
  if (parts.empty()) {
    axis.concat(place * axis.extent(), dim.extent * axis.extent());
  } else {
    axis.concat(sum(parts.begin() + place), sum(parts.end()));
  }
  return true;
}

std::string text_of(const CutDim& dim) {
  std::string text(name_of(dim.role));
  if (dim.role == CutRole::kGathered)
    return fmt::format("gathered axis {} of a zigzag of {} ranks", dim.axis, dim.groups.front());
  if (is_cut(dim.role)) text += fmt::format(" axis {}", dim.axis);
  if (dim.groups.empty()) return text;
  const bool alike =
      std::all_of(dim.groups.begin(), dim.groups.end(), [&](int64_t one) { return one == dim.groups.front(); });
  return text + (alike ? fmt::format(" in {} blocks", dim.groups.size())
                       : fmt::format(" in blocks of {}", fmt::join(dim.groups, ":")));
}

}  // namespace

std::string_view name_of(CutRole role) {
  static constexpr auto kNames =
      enum_table<CutRole, std::string_view>("copy", "sum", "mean", "max", "concat", "zigzag", "gathered");
  return kNames[role];
}

bool is_reduced(CutRole role) { return role == CutRole::kSum || role == CutRole::kMean || role == CutRole::kMax; }

int64_t CutLayout::ranks() const {
  int64_t count = 1;
  for (const CutDim& dim : dims) count *= dim.extent;
  return count;
}

bool CutLayout::has(CutRole role) const {
  return std::any_of(dims.begin(), dims.end(), [&](const CutDim& dim) { return dim.role == role; });
}

bool CutLayout::cuts(uint32_t axis) const {
  return std::any_of(dims.begin(), dims.end(), [&](const CutDim& dim) { return is_cut(dim.role) && dim.axis == axis; });
}

int64_t CutLayout::copies() const {
  int64_t count = 1;
  for (const CutDim& dim : dims) {
    if (dim.role == CutRole::kCopy) count *= dim.extent;
  }
  return count;
}

int64_t CutLayout::copy_of(int64_t rank) const {
  int64_t copy = 0, scale = 1;
  for (const CutDim& dim : dims) {
    if (dim.role == CutRole::kCopy) {
      copy += rank % dim.extent * scale;
      scale *= dim.extent;
    }
    rank /= dim.extent;
  }
  return copy;
}

std::string text_of_ranks(std::span<const int64_t> ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string text_of(const CutLayout& layout, std::span<const int64_t> ranks) {
  if (ranks.size() < 2) return layout.factor == 1 ? std::string() : fmt::format("times {:.6g}", layout.factor);
  std::vector<std::string> parts;
  for (const CutDim& dim : layout.dims) {
    parts.push_back(text_of(dim));
    if (layout.dims.size() > 1 && dim.extent > 1) parts.back() += fmt::format(" by {}", dim.extent);
  }
  std::string text = fmt::format("{} of ranks {}", fmt::join(parts, ", "), text_of_ranks(ranks));
  if (layout.factor != 1) text += fmt::format(", times {:.6g}", layout.factor);
  return text;
}

PieceShapes::PieceShapes(std::span<const Shape> pieces) : shapes(pieces) {
  alike = std::all_of(pieces.begin(), pieces.end(), [&](const Shape& one) { return one == pieces.front(); });
}

std::vector<std::vector<AxisSegment>> segments_of(const CutLayout& layout, int64_t rank, const PieceShapes& pieces,
                                                  const Shape& whole) {
  const Shape& own = pieces.shapes[static_cast<size_t>(rank)];
  if (own.size() != whole.size()) return {};
  std::vector<AxisCut> axes;
  axes.reserve(whole.size());
  for (const int64_t extent : own) axes.emplace_back(extent);
  int64_t stride = 1;
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    const CutDim& dim = layout.dims[i];
    const int64_t place = rank / stride % dim.extent;
    if (dim.role == CutRole::kGathered) {
      if (dim.axis >= axes.size() || dim.groups.empty() || !axes[dim.axis].reorder(dim.groups.front())) return {};
    } else if (is_cut(dim.role)) {
      if (dim.axis >= axes.size()) return {};
      std::vector<int64_t> parts;
      if (!pieces.alike) parts = extents_of_parts(std::span(layout.dims).first(i + 1), rank, dim.axis, pieces.shapes);
      if ((!pieces.alike && parts.empty()) || !put_together(axes[dim.axis], dim, place, parts)) return {};
    }
    stride *= dim.extent;
  }
  std::vector<std::vector<AxisSegment>> segments;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const bool may_pad = layout.cuts(static_cast<uint32_t>(axis));
    if (!axes[axis].clip(whole[axis], may_pad ? own[axis] - 1 : 0) || axes[axis].segments().empty()) return {};
    segments.push_back(axes[axis].segments());
  }
  return segments;
}

std::vector<PieceBox> boxes_of(const CutLayout& layout, int64_t rank, const PieceShapes& pieces, const Shape& whole) {
  const auto segments = segments_of(layout, rank, pieces, whole);
  if (segments.size() != whole.size()) return {};
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

TensorPieces pieces_of(const CutLayout& layout, std::span<const TensorRecord* const> records, const Shape& whole,
                       int64_t copy) {
  std::vector<Shape> all;
  for (const TensorRecord* const record : records) all.push_back(*record->shape);
  const PieceShapes shapes(all);
  TensorPieces pieces;
  pieces.shape = whole;
  pieces.factor = layout.factor;
  for (const CutDim& dim : layout.dims) {
    if (dim.role == CutRole::kMean) pieces.factor /= static_cast<double>(dim.extent);
  }
  if (layout.adds()) pieces.overlap = PieceOverlap::kAdded;
  if (layout.has(CutRole::kMax)) pieces.overlap = PieceOverlap::kLargest;
  for (int64_t rank = 0; rank < static_cast<int64_t>(records.size()); ++rank) {
    if (layout.copy_of(rank) != copy) continue;
    for (PieceBox& box : boxes_of(layout, rank, shapes, whole)) {
      box.piece = static_cast<uint32_t>(pieces.records.size());
      pieces.boxes.push_back(std::move(box));
    }
    pieces.records.push_back(records[static_cast<size_t>(rank)]);
  }
  const bool one = pieces.boxes.size() == 1 && pieces.factor == 1 && *pieces.records.front()->shape == whole;
  if (one) pieces.boxes.clear();
  return pieces;
}

}  // namespace msdump
