#include "compare/match/placement/placement_choices.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/numbers.h"
#include "compare/limits.h"

namespace msdump {
namespace {

// The complexity of the simplest role, and of the most complex one beyond that; of blocks or a factor.
constexpr int kLeastCost = 1, kMostOver = 3, kBlocksCost = 3;

class PlacementEnumeration {
 public:
  PlacementEnumeration(const LocalShapes& locals, const Shape& global, bool reduced, PlacementStage stage)
      : locals_(locals),
        global_(global),
        reduced_(reduced),
        stage_(stage),
        divisors_(divisors_of(static_cast<int64_t>(locals.shapes.size()))) {
    for (const RoleTraits& role : all_roles()) {
      const auto number = static_cast<PlacementRole>(&role - all_roles().data());
      for (uint32_t axis = 0; is_tried(role) && axis < (role.shards() ? global.size() : 1); ++axis)
        choices_.push_back({1, number, axis});
    }
    // Copies, then shards axis by axis, then reductions.
    const auto order = [](const PlacementDim& dim) {
      return std::tuple(dim.traits().reduction, dim.traits().shards(), dim.axis);
    };
    std::stable_sort(choices_.begin(), choices_.end(),
                     [&](const PlacementDim& x, const PlacementDim& y) { return order(x) < order(y); });
  }

  Bounded<Placement> run() {
    const auto ranks = static_cast<int64_t>(locals_.shapes.size());
    if (ranks == 1) add({});
    for (size_t dims = 1; dims <= kMostAxes; ++dims) {
      for (int over = 0; over <= kMostOver * static_cast<int>(dims); ++over) extend({}, ranks, dims, over);
    }
    return std::move(found_);
  }

 private:
  // Adds the placements with `dims` more dimensions, which together are `over` more complex than the simplest ones.
  void extend(const Placement& placement, int64_t ranks, size_t dims, int over) {
    if (dims == 0) return ranks == 1 && over == 0 ? add(placement) : void();
    for (const int64_t extent : divisors_) {
      if (extent == 1 || ranks % extent != 0) continue;
      for (PlacementDim dim : choices_) {
        dim.extent = extent;
        const int rest = over - (dim.traits().cost - kLeastCost);
        if (rest < 0 || rest > kMostOver * static_cast<int>(dims - 1)) continue;
        if (found_.items.size() >= kMostFollowed) {
          found_.cut_off = true;
          return;
        }
        if (!placement.dims.empty() && are_one(placement.dims.back(), dim)) continue;
        Placement longer = placement;
        longer.dims.push_back(dim);
        if (may_fit(longer, ranks / extent)) extend(longer, ranks / extent, dims - 1, rest);
      }
    }
  }

  // True if two neighbouring dimensions are equivalent to one. Of two along one axis, one may get blocks.
  [[nodiscard]] bool are_one(const PlacementDim& faster, const PlacementDim& dim) const {
    const RoleTraits& role = dim.traits();
    return role.merges && !(role.shards() && has_blocks()) && faster.role == dim.role && faster.axis == dim.axis;
  }

  [[nodiscard]] bool is_tried(const RoleTraits& role) const {
    const bool is_reduced = role.reduction != PieceOverlap::kNone;
    if (!role.is_mesh_dim || role.averages || (is_reduced && !reduced_)) return false;
    if (stage_ == PlacementStage::kMaxima) return role.stage == (is_reduced ? stage_ : PlacementStage::kPlain);
    return role.stage <= stage_;
  }

  [[nodiscard]] bool has_blocks() const {
    return stage_ == PlacementStage::kBlocks || stage_ == PlacementStage::kMixed;
  }

  // True if further dimensions may make the placement fit. They cannot if its shards exceed the global tensor by one or
  // more. Nor can they if all local tensors are equal and the ranks that are left are not the number of missing shards.
  [[nodiscard]] bool may_fit(const Placement& placement, int64_t ranks) const {
    const Shape& local = locals_.shapes.front();
    Shape extents = local;
    for (const PlacementDim& dim : placement.dims) {
      if (!dim.traits().shards()) continue;
      extents[dim.axis] *= dim.extent;
      if (extents[dim.axis] >= global_[dim.axis] + 2 * local[dim.axis]) return false;
    }
    if (!locals_.are_equal) return true;
    for (size_t axis = 0; axis < global_.size(); ++axis) {
      if (local[axis] == 0) return true;
      const int64_t wanted = ceil_div(global_[axis], local[axis]), present = extents[axis] / local[axis];
      if (wanted % present != 0 || ranks % (wanted / present) != 0) return false;
      ranks /= wanted / present;
    }
    return true;
  }

  void add(const Placement& placement) {
    add_if_it_fits(placement);
    if (stage_ == PlacementStage::kZigzag) add_gathered(placement);
    if (has_blocks()) add_blocked(placement, 0, stage_ == PlacementStage::kBlocks ? 1 : 2);
  }

  void add_if_it_fits(const Placement& placement) {
    if (stage_of(placement) != stage_ || !fits_shapes(placement, locals_, global_)) return;
    if (found_.items.size() < kMostFollowed) {
      found_.items.push_back(placement);
    } else {
      found_.cut_off = true;
    }
  }

  // Adds the placement with a reordered axis, one that is not sharded.
  void add_gathered(const Placement& placement) {
    for (uint32_t axis = 0; axis < global_.size(); ++axis) {
      if (placement.shards(axis)) continue;
      for (const int64_t ranks : divisors_) {
        if (ranks == 1) continue;
        Placement gathered = placement;
        gathered.dims.push_back({1, PlacementRole::kGathered, axis, {ranks}});
        add_if_it_fits(gathered);
      }
    }
  }

  // Adds the placement with blocks in up to `most` of the dimensions from `first` on.
  void add_blocked(const Placement& placement, size_t first, int most) {
    for (size_t dim = first; dim < placement.dims.size() && most > 0; ++dim) {
      for (const std::vector<int64_t>& blocks : blocks_of(placement.dims[dim])) {
        Placement blocked = placement;
        blocked.dims[dim].groups = blocks;
        add_if_it_fits(blocked);
        if (stage_ == PlacementStage::kMixed) add_gathered(blocked);
        add_blocked(blocked, dim + 1, most - 1);
      }
    }
  }

  // The blocks that a local axis can be divided into.
  [[nodiscard]] std::vector<std::vector<int64_t>> blocks_of(const PlacementDim& dim) const {
    std::vector<std::vector<int64_t>> patterns;
    if (!dim.traits().shards()) return patterns;
    const int64_t extent = locals_.shapes.front()[dim.axis];
    for (int64_t blocks = 2; blocks <= int64_t{kMostTried}; ++blocks) {
      if (extent % blocks == 0) patterns.emplace_back(static_cast<size_t>(blocks), 1);
    }
    for (int64_t ratio = 2; dim.traits().may_be_uneven && ratio <= int64_t{kFewTried}; ++ratio) {
      if (extent % (ratio + 2) == 0) patterns.push_back({ratio, 1, 1});
    }
    return patterns;
  }

  const LocalShapes& locals_;
  const Shape& global_;
  const bool reduced_;
  const PlacementStage stage_;
  const std::vector<int64_t> divisors_;  // of the ranks
  std::vector<PlacementDim> choices_;    // a dimension of each kind
  Bounded<Placement> found_;
};

}  // namespace

Bounded<Placement> placements_of(const LocalShapes& locals, const Shape& global, bool reduced, PlacementStage stage) {
  return PlacementEnumeration(locals, global, reduced, stage).run();
}

PlacementStage stage_of(const Placement& placement) {
  auto stage = PlacementStage::kPlain;
  int blocked = 0;
  bool reorders = false;
  for (const PlacementDim& dim : placement.dims) {
    stage = std::max(stage, dim.traits().stage);
    blocked += dim.has_blocks() ? 1 : 0;
    reorders = reorders || !dim.traits().is_mesh_dim;
  }
  if (stage == PlacementStage::kMaxima || blocked == 0) return stage;
  return blocked > 1 || reorders ? PlacementStage::kMixed : PlacementStage::kBlocks;
}

std::vector<BlockedAxis> blocked_axes_of(const Placement& placement, const Shape& local) {
  Shape extents = local;
  std::vector<BlockedAxis> blocked;
  for (const PlacementDim& dim : placement.dims) {
    if (!dim.traits().shards()) continue;
    extents[dim.axis] *= dim.extent;
    if (dim.groups.empty()) continue;
    const int64_t all = std::accumulate(dim.groups.begin(), dim.groups.end(), int64_t{0});
    blocked.push_back({dim.axis, extents[dim.axis] / all * dim.groups.front(), dim.groups.front() / dim.groups.back()});
  }
  return blocked;
}

bool have_same_blocks(std::span<const BlockedAxis> a, std::span<const BlockedAxis> b) {
  return std::all_of(a.begin(), a.end(), [&](const BlockedAxis& one) {
    return std::none_of(b.begin(), b.end(), [&](const BlockedAxis& other) {
      return one.axis == other.axis && (one.extent != other.extent || one.ratio != other.ratio);
    });
  });
}

int complexity_of(const PlacementDim& dim) { return dim.traits().cost + (dim.groups.empty() ? 0 : kBlocksCost); }

std::vector<Placement> with_factors(const Placement& placement, const std::vector<double>& factors) {
  std::vector<Placement> all = {placement};
  for (size_t i = 0; i < placement.dims.size(); ++i) {
    if (placement.dims[i].role != PlacementRole::kSum) continue;
    for (size_t known = 0, end = all.size(); known < end; ++known)
      all.emplace_back(all[known]).dims[i].role = PlacementRole::kMean;
  }
  const size_t without = all.size();
  for (const double factor : factors) {
    for (size_t known = 0; factor != 1 && known < without; ++known) all.emplace_back(all[known]).factor = factor;
  }
  return all;
}

int complexity_of(const Placement& a, const Placement& b) {
  const auto own = [](const Placement& placement) {
    int complexity = placement.factor == 1 ? 0 : kBlocksCost;
    for (const PlacementDim& dim : placement.dims) complexity += complexity_of(dim);
    return complexity;
  };
  const bool one_rule = std::any_of(a.dims.begin(), a.dims.end(), [&](const PlacementDim& one) {
    return !one.groups.empty() && std::any_of(b.dims.begin(), b.dims.end(), [&](const PlacementDim& other) {
      return one.role == other.role && one.axis == other.axis && one.groups == other.groups;
    });
  });
  return own(a) + own(b) - (one_rule ? kBlocksCost : 0);
}

Bounded<Shape> global_shapes_of(std::span<const Shape> a, std::span<const Shape> b) {
  if (a.front().size() != b.front().size()) return {};
  if (b.size() == 1) return {{b.front()}};
  if (a.size() == 1) return {{a.front()}};
  Bounded<Shape> globals{{Shape()}};
  const auto extents_of = [](std::span<const Shape> locals, size_t axis) {
    std::set<int64_t> extents;
    for (const int64_t divisor : divisors_of(static_cast<int64_t>(locals.size())))
      extents.insert(locals.front()[axis] * divisor);
    int64_t sum = 0;
    for (const Shape& one : locals) sum += one[axis];
    extents.insert(sum);
    return extents;
  };
  for (size_t axis = 0; axis < a.front().size(); ++axis) {
    const std::set<int64_t> in_a = extents_of(a, axis), in_b = extents_of(b, axis);
    std::vector<Shape> longer;
    for (const Shape& global : globals.items) {
      for (const int64_t extent : in_a) {
        if (!in_b.contains(extent)) continue;
        if (longer.size() >= kMostFollowed) {
          globals.cut_off = true;
          break;
        }
        longer.push_back(global);
        longer.back().push_back(extent);
      }
    }
    globals.items = std::move(longer);
  }
  std::stable_sort(globals.items.begin(), globals.items.end(), [](const Shape& x, const Shape& y) {
    return element_count(x).value_or(0) < element_count(y).value_or(0);
  });
  return globals;
}

// If the local tensors are equal and have no padding, only the first rank is looked at: all hold as much.
bool fits_shapes(const Placement& placement, const LocalShapes& locals, const Shape& global) {
  const auto ranks = static_cast<int64_t>(locals.shapes.size());
  Shape extents = locals.shapes.front();
  for (const PlacementDim& dim : placement.dims) {
    if (dim.traits().shards() && dim.axis < extents.size()) extents[dim.axis] *= dim.extent;
  }
  const bool even = locals.are_equal && extents == global;
  int64_t covered = 0;
  for (int64_t rank = 0; rank < (even ? 1 : ranks); ++rank) {
    // A rank may hold no element, if the axis is shorter than the mesh.
    if (element_count(locals.shapes[static_cast<size_t>(rank)]) == 0) continue;
    const auto segments = segments_of(placement, rank, locals, global);
    if (segments.size() != global.size()) return false;
    int64_t volume = 1;
    for (const std::vector<AxisSegment>& of_axis : segments) {
      int64_t extent = 0;
      for (const AxisSegment& segment : of_axis) extent += segment.size;
      volume *= extent;
    }
    covered += even ? ranks * volume : volume;
  }
  int64_t times = placement.copies();
  for (const PlacementDim& dim : placement.dims) {
    if (dim.traits().reduction != PieceOverlap::kNone) times *= dim.extent;
  }
  return covered == times * element_count(global).value_or(-1);
}

}  // namespace msdump
