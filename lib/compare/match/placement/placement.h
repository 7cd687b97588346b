// Placement: how a tensor is distributed over the ranks of a parallel run. The ranks form a mesh, the fastest dimension
// first. Along each dimension of the mesh they hold
//
//   copy      the same elements (replicated)
//   sum       partial sums, as before an AllReduce; mean: the tensor is their mean
//   max       partial maxima, as before an AllReduce that takes the largest; never beside sum or mean
//   concat    shards that follow each other along an axis, in the order of the ranks. The parts of a fused tensor (q, k and
//             v) are sharded one by one: `blocks` are their relative sizes
//   zigzag    two shards each along an axis: rank i of n holds shards i and 2n-1-i (context parallelism)
//   gathered  no dimension of the mesh: every rank holds all shards of a zigzag along an axis, in the order of the ranks,
//             as an AllGather leaves them
//
// If several dimensions shard one axis, the slower one shards first. The last shard may reach beyond the tensor: padding.
// Gradients of a loss that each rank averages by itself are too large by the number of ranks: `factor`.
//
// Global tensor: the tensor as a single process would hold it. Local tensor: the part that a rank holds.
//
// A new role is an enumerator here, a row of the table in placement.cpp and a case of tests/support/sharded_tensors.cpp. The
// search, --layout files and all texts follow the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "tensor/shape.h"

namespace msdump {

// Bound of the blocks of a placement that a file states.
inline constexpr int64_t kMostBlocks = 8192;

enum class PlacementRole : uint8_t { kCopy, kSum, kMean, kMax, kConcat, kZigzag, kGathered };

// The steps of a search for placements. Each is tried if the ones before do not fit; kMixed takes longest. kMaxima is
// outside the order: plain placements with maxima instead of sums.
enum class PlacementStage : uint8_t { kPlain, kZigzag, kBlocks, kMixed, kMaxima };

struct AxisSegments;
struct PlacementDim;

struct RoleTraits {
  std::string_view name;
  std::string_view keys;  // of a --layout file (placement_file.cpp), separated by blanks; "axis" if the role has one
  int cost = 1;           // complexity: the simpler of two placements that fit is taken
  PlacementStage stage = PlacementStage::kPlain;  // the first that tries the role
  PieceOverlap reduction = PieceOverlap::kNone;   // what a collective does with the elements of several ranks
  bool averages = false;       // the sum is divided by the number of ranks; tried as another reading of kSum
  bool is_mesh_dim = true;     // false: every rank holds all elements, in another order
  bool merges = false;         // two neighbouring dimensions of the role are the same as one
  bool may_be_uneven = false;  // shards and blocks may have different sizes
  // Shards and reorders only. Places the elements that the faster dimensions assembled along the axis; `parts` are the
  // extents of all shards of the dimension, none if they are equal. False if the extents do not go into the role.
  bool (*place)(AxisSegments& axis, const PlacementDim& dim, int64_t coordinate,
                std::span<const int64_t> parts) = nullptr;

  // True if each rank holds a part of an axis.
  [[nodiscard]] constexpr bool shards() const { return place != nullptr && is_mesh_dim; }
  [[nodiscard]] bool has_key(std::string_view key) const;
};
[[nodiscard]] std::span<const RoleTraits> all_roles();  // in the order of the enumerators

struct PlacementDim {
  int64_t extent = 1;  // ranks along the dimension
  PlacementRole role = PlacementRole::kCopy;
  uint32_t axis = 0;  // of roles that have one
  // The relative sizes of the blocks of shards; empty: one block. For kGathered, the number of ranks of the zigzag.
  std::vector<int64_t> groups = {};
  bool operator==(const PlacementDim&) const = default;

  [[nodiscard]] const RoleTraits& traits() const { return all_roles()[static_cast<size_t>(role)]; }
  // Blocks that the axis is divided into before it is sharded; 1 if it is not.
  [[nodiscard]] int64_t blocks() const;
  [[nodiscard]] bool has_blocks() const { return traits().shards() && !groups.empty(); }
};

struct Placement {
  std::vector<PlacementDim> dims;  // the product of their extents is the number of ranks
  double factor = 1;
  bool operator==(const Placement&) const = default;

  [[nodiscard]] int64_t ranks() const;
  [[nodiscard]] bool has(PlacementRole role) const;
  [[nodiscard]] PieceOverlap reduction() const;  // the collective that makes the global tensor
  [[nodiscard]] bool adds() const { return reduction() == PieceOverlap::kAdded; }
  [[nodiscard]] bool is_sharded() const;
  [[nodiscard]] bool shards(uint32_t axis) const;
  // `factor`, divided by the number of ranks that kMean averages over.
  [[nodiscard]] double scale() const;
  // The index of the replica that a rank holds a part of, and the number of replicas.
  [[nodiscard]] int64_t copy_of(int64_t rank) const;
  [[nodiscard]] int64_t copies() const;
  // The placement after the collective: replicas in place of partial sums and maxima.
  [[nodiscard]] Placement after_reduction() const;
};

// "concat axis 1 of ranks 0-3"; several dimensions, the fastest first, with their extents: "sum by 2, concat axis 0 by 4 of
// ranks 0-7". Empty for one rank.
[[nodiscard]] std::string text_of(const Placement& placement, std::span<const int64_t> ranks);

// The shapes of the local tensors, one a rank. Compares them once, not once for each rank.
struct LocalShapes {
  // NOLINTBEGIN(google-explicit-constructor)
  LocalShapes(std::span<const Shape> locals);
  LocalShapes(const std::vector<Shape>& locals) : LocalShapes(std::span(locals)) {}
  // NOLINTEND(google-explicit-constructor)

  std::span<const Shape> shapes;  // must outlive this
  bool are_equal = true;
};

// A range of an axis, in the local and in the global tensor.
struct AxisSegment {
  int64_t from = 0, to = 0, size = 0;
};

// The part of the global tensor that a rank holds, as ranges of each axis; the part is their product. `rank` is its place in
// the mesh. Empty if the shapes do not fit the placement, or the part has no elements.
[[nodiscard]] std::vector<std::vector<AxisSegment>> segments_of(const Placement& placement, int64_t rank,
                                                                const LocalShapes& locals, const Shape& global);
// The same as boxes.
[[nodiscard]] std::vector<PieceBox> boxes_of(const Placement& placement, int64_t rank, const LocalShapes& locals,
                                             const Shape& global);
// A replica of the global tensor: local tensors, and the boxes that they fill. The shapes must fit the placement.
[[nodiscard]] TensorPieces pieces_of(const Placement& placement, std::span<const TensorRecord* const> records,
                                     const Shape& global, int64_t copy);

}  // namespace msdump
