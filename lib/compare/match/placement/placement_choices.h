// The placements (placement.h) that the shapes of the local tensors allow, before any value is looked at, and how complex
// each is. Meshes have up to four dimensions; those with fewer dimensions come first, and of these the less complex ones.
// The number of placements is bounded; the bound leaves out the most complex ones.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compare/match/placement/placement.h"

namespace msdump {

// The stages of a search in their order; kMaxima is beside it.
inline constexpr std::array kPlacementStages = {PlacementStage::kPlain, PlacementStage::kZigzag,
                                                PlacementStage::kBlocks, PlacementStage::kMixed};

template <class Item>
struct Bounded {
  std::vector<Item> items;
  bool cut_off = false;  // true if there may be more than kMostFollowed
};
// The placements of this stage alone. `reduced`: the local tensors may be partial sums or maxima.
[[nodiscard]] Bounded<Placement> placements_of(const LocalShapes& locals, const Shape& global, bool reduced,
                                               PlacementStage stage);
// The global shapes that the local tensors of both sides may be parts of, the smallest first.
[[nodiscard]] Bounded<Shape> global_shapes_of(std::span<const Shape> a, std::span<const Shape> b);
// The first stage that has the placement.
[[nodiscard]] PlacementStage stage_of(const Placement& placement);
// True if the shapes of the local tensors are those of the placement.
[[nodiscard]] bool fits_shapes(const Placement& placement, const LocalShapes& locals, const Shape& global);

// BlockedAxis: an axis that is sharded in blocks. `extent` is that of the first block in the global tensor, such as the
// heads of a sample. `ratio` is that of the first block to the last.
struct BlockedAxis {
  uint32_t axis = 0;
  int64_t extent = 0;
  int64_t ratio = 1;
};
// For local tensors of one shape.
[[nodiscard]] std::vector<BlockedAxis> blocked_axes_of(const Placement& placement, const Shape& local);
// True if two sides of one tensor have the same blocks on each axis that both shard in blocks.
[[nodiscard]] bool have_same_blocks(std::span<const BlockedAxis> a, std::span<const BlockedAxis> b);

// The placement, and with each factor that explains a multiple: a mean in place of a sum, one of `factors`, or both.
[[nodiscard]] std::vector<Placement> with_factors(const Placement& placement, const std::vector<double>& factors);
// The complexity of one dimension: that of its role, and that of blocks.
[[nodiscard]] int complexity_of(const PlacementDim& dim);
// The complexity of both sides together; of two explanations that fit, the simpler one is taken. Equal blocks on both sides
// are one rule over two numbers of ranks, and count once. If both sides add up and one concatenates too, the sums hide the
// order of the shards; a factor says the same and is simpler.
[[nodiscard]] int complexity_of(const Placement& a, const Placement& b);

}  // namespace msdump
