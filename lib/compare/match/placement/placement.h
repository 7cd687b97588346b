// CutLayout: how a tensor lies on the ranks of a parallel run. The ranks form a mesh, the fastest dimension first; along
// each of its dimensions they have
//
//   copy     the same elements
//   sum      terms of a sum, as before an AllReduce; mean: their mean is the tensor
//   max      maxima of their own parts, as before an AllReduce that takes the largest: of each element the largest of all
//            ranks is the tensor's. Not in one layout with sum and mean
//   concat   parts that follow each other along an axis, in the order of the ranks. The parts of a fused tensor (q, k and
//            v) are cut one by one: `groups` are their sizes relative to each other; so are the heads of each sample
//            where both are one axis
//   zigzag   two parts each along an axis: rank i of n has parts i and 2n-1-i (context parallelism)
//
// gathered is not a dimension of the mesh: every rank has all parts of a zigzag of so many ranks along an axis, in the order
// of the ranks, as an AllGather leaves them.
//
// Where several dimensions cut one axis, the slower one cuts first. The last part may reach beyond the tensor: padding.
// Gradients of a loss that each rank takes the mean of are too large by the number of ranks: `factor`.
// Source: Megatron-LM's and MindSpore's parallel layouts as their documents describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "tensor/shape.h"

namespace msdump {

enum class CutRole : uint8_t { kCopy, kSum, kMean, kMax, kConcat, kZigzag, kGathered };
[[nodiscard]] std::string_view name_of(CutRole role);
// Does a collective reduce the parts to the tensor? sum, mean and max.
[[nodiscard]] bool is_reduced(CutRole role);
// True of concat and zigzag: the ranks have parts along an axis.
[[nodiscard]] inline bool is_cut(CutRole role) { return role == CutRole::kConcat || role == CutRole::kZigzag; }

struct CutDim {
  int64_t extent = 1;  // 1 of kGathered
  CutRole role = CutRole::kCopy;
  uint32_t axis = 0;                 // of kConcat and kZigzag
  std::vector<int64_t> groups = {};  // of a cut; empty: one; all alike of kZigzag. Of kGathered: the number of ranks
  bool operator==(const CutDim&) const = default;
};

struct CutLayout {
  std::vector<CutDim> dims;  // the product of their extents is the number of ranks
  double factor = 1;
  bool operator==(const CutLayout&) const = default;

  [[nodiscard]] int64_t ranks() const;
  [[nodiscard]] bool has(CutRole role) const;
  [[nodiscard]] bool adds() const { return has(CutRole::kSum) || has(CutRole::kMean); }  // what the ranks have
  [[nodiscard]] bool cuts(uint32_t axis) const;
  // Which of the copies of the tensor a rank has a part of; and how many there are.
  [[nodiscard]] int64_t copy_of(int64_t rank) const;
  [[nodiscard]] int64_t copies() const;
};

// "concat axis 1 of ranks 0-3"; of several dimensions the fastest first, with their extents: "sum by 2, concat axis 0 by 4
// of ranks 0-7". Empty for one rank.
[[nodiscard]] std::string text_of(const CutLayout& layout, std::span<const int64_t> ranks);
// "0-3,8"
[[nodiscard]] std::string text_of_ranks(std::span<const int64_t> ranks);

// The shapes of a tensor's pieces, one a rank, and whether they are equal. Compares them once, not once for each rank.
struct PieceShapes {
  // NOLINTBEGIN(google-explicit-constructor)
  PieceShapes(std::span<const Shape> pieces);
  PieceShapes(const std::vector<Shape>& pieces) : PieceShapes(std::span(pieces)) {}
  // NOLINTEND(google-explicit-constructor)

  std::span<const Shape> shapes;  // must outlive this
  bool alike = true;
};

// A range of an axis, in the piece and in the whole.
struct AxisSegment {
  int64_t from = 0, to = 0, size = 0;
};

// The part of the whole that `rank` (a place in the mesh) has, for pieces of these shapes, one a rank: the product of the
// ranges of each axis. None if the shapes do not fit the layout, or the part is empty.
[[nodiscard]] std::vector<std::vector<AxisSegment>> segments_of(const CutLayout& layout, int64_t rank,
                                                                const PieceShapes& pieces, const Shape& whole);
// The same as boxes.
[[nodiscard]] std::vector<PieceBox> boxes_of(const CutLayout& layout, int64_t rank, const PieceShapes& pieces,
                                             const Shape& whole);
// One of the copies of the tensor, as its parts on the ranks make it. The records have shapes that fit the layout.
[[nodiscard]] TensorPieces pieces_of(const CutLayout& layout, std::span<const TensorRecord* const> records,
                                     const Shape& whole, int64_t copy);

}  // namespace msdump
