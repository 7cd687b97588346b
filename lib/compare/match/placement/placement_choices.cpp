#include "compare/match/placement/placement_choices.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/containers.h"
#include "base/numbers.h"

namespace msdump {
namespace {

constexpr int kGroups = 3, kFactor = 4, kBothAdd = 1;
constexpr auto kCosts = enum_table<CutRole, int>(1, 3, 3, 3, 2, 4, 4);

int complexity_of(const CutLayout& layout) {
  int complexity = 0;
  for (const CutDim& dim : layout.dims) complexity += msdump::complexity_of(dim);
  return complexity + (layout.factor == 1 ? 0 : kFactor);
}

}  // namespace

int complexity_of(const CutDim& dim) { return kCosts[dim.role] + (dim.groups.empty() ? 0 : kGroups); }

std::vector<ScaledLayout> scaled_layouts(CutLayout layout, const std::vector<double>& gradient, bool is_stated) {
  const std::vector<CutDim> dims = layout.dims;
  std::vector<ScaledLayout> all;
  if (is_stated) {
    double factor = layout.factor;
    for (const CutDim& dim : dims) {
      if (dim.role == CutRole::kMean) factor /= static_cast<double>(dim.extent);
    }
    const int complexity = complexity_of(layout);
    all.push_back({factor, std::move(layout), complexity});
    return all;
  }
  all.push_back({1, std::move(layout), 0});
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].role != CutRole::kSum) continue;
    const size_t known = all.size();
    for (size_t other = 0; other < known; ++other) {
      ScaledLayout next = all[other];
      next.factor /= static_cast<double>(dims[i].extent);
      next.layout.dims[i].role = CutRole::kMean;
      all.push_back(std::move(next));
    }
  }
  const size_t without = all.size();
  for (const double factor : gradient) {
    for (size_t other = 0; other < without; ++other) {
      ScaledLayout next = all[other];
      next.factor *= factor;
      next.layout.factor = factor;
      all.push_back(std::move(next));
    }
  }
  for (ScaledLayout& one : all) one.complexity = complexity_of(one.layout);
  return all;
}

int complexity_of(const ScaledLayout& a, const ScaledLayout& b) {
  const std::vector<CutDim>&of_a = a.layout.dims, &of_b = b.layout.dims;
  const bool one_rule = std::any_of(of_a.begin(), of_a.end(), [&](const CutDim& one) {
    return !one.groups.empty() && std::any_of(of_b.begin(), of_b.end(), [&](const CutDim& other) {
      return one.role == other.role && one.axis == other.axis && one.groups == other.groups;
    });
  });
  const bool both_add = a.layout.adds() && b.layout.adds(), more = of_a.size() > 1 || of_b.size() > 1;
  return a.complexity + b.complexity - (one_rule ? kGroups : 0) + (both_add && more ? kBothAdd : 0);
}

std::string key_of(const CutLayout& layout) {
  std::string key;
  for (const CutDim& dim : layout.dims)
    key += fmt::format("{}{}.{}:{} ", name_of(dim.role), dim.axis, dim.extent, fmt::join(dim.groups, ":"));
  return key + (layout.factor == 1 ? "" : fmt::format("*{}", layout.factor));
}

namespace {

constexpr size_t kMostDims = 4;
constexpr int64_t kMostRatio = 8;    // of the queries to the keys of a fused tensor
constexpr int64_t kMostGroups = 64;  // of one size, as the heads of each sample

// All layouts of one side.
class Layouts {
 public:
  Layouts(const PieceShapes& pieces, const Shape& whole, bool reduced, CutStage stage)
      : pieces_(pieces),
        whole_(whole),
        reduced_(reduced),
        stage_(stage),
        divisors_(divisors_of(static_cast<int64_t>(pieces.shapes.size()))) {}

  Bounded<CutLayout> run() {
    const auto ranks = static_cast<int64_t>(pieces_.shapes.size());
    if (ranks == 1) add({});
    for (size_t dims = 1; dims <= kMostDims; ++dims) {
      for (int over = 0; over <= kMostOver * static_cast<int>(dims); ++over) extend({}, ranks, dims, over);
    }
    return std::move(found_);
  }

 private:
  // Adds the layouts that have so many more dimensions, and these together are `over` more complex than the simplest ones.
  void extend(const CutLayout& layout, int64_t ranks, size_t dims, int over) {
    if (dims == 0) return ranks == 1 && over == 0 ? add(layout) : void();
    for (const int64_t extent : divisors_) {
      if (extent == 1 || ranks % extent != 0) continue;
      for (const CutDim& dim : choices(extent)) {
        const int rest = over - (complexity_of(dim) - kLeastComplexity);
        if (rest < 0 || rest > kMostOver * static_cast<int>(dims - 1)) continue;
        if (found_.items.size() >= kMostLayouts) {
          found_.cut_off = true;
          return;
        }
        // Of two along one axis, one may have groups.
        const bool one = dim.role == CutRole::kCopy || (dim.role == CutRole::kConcat && !has_groups());
        const bool merges =
            one && !layout.dims.empty() && layout.dims.back().role == dim.role && layout.dims.back().axis == dim.axis;
        if (merges) continue;
        CutLayout longer = layout;
        longer.dims.push_back(dim);
        if (may_fit(longer, ranks / extent)) extend(longer, ranks / extent, dims - 1, rest);
      }
    }
  }

  [[nodiscard]] std::vector<CutDim> choices(int64_t extent) const {
    std::vector<CutDim> dims = {{extent, CutRole::kCopy, 0}};
    for (uint32_t axis = 0; axis < whole_.size(); ++axis) {
      dims.push_back({extent, CutRole::kConcat, axis});
      if (stage_ != CutStage::kPlain && stage_ != CutStage::kMaxima) dims.push_back({extent, CutRole::kZigzag, axis});
    }
    if (reduced_ && stage_ != CutStage::kMaxima) dims.push_back({extent, CutRole::kSum, 0});
    if (reduced_ && stage_ == CutStage::kMaxima) dims.push_back({extent, CutRole::kMax, 0});
    return dims;
  }

  [[nodiscard]] bool has_groups() const { return stage_ == CutStage::kGroups || stage_ == CutStage::kMixed; }

  // False if no more dimensions make the whole of it: its parts exceed the whole by a piece or more, or, where all pieces are
  // alike and it is known how many there are along each axis, other numbers of them are left than ranks.
  [[nodiscard]] bool may_fit(const CutLayout& layout, int64_t ranks) const {
    const Shape& piece = pieces_.shapes.front();
    Shape extents = piece;
    for (const CutDim& dim : layout.dims) {
      if (!is_cut(dim.role)) continue;
      extents[dim.axis] *= dim.extent;
      if (extents[dim.axis] >= whole_[dim.axis] + 2 * piece[dim.axis]) return false;
    }
    if (!pieces_.alike) return true;
    for (size_t axis = 0; axis < whole_.size(); ++axis) {
      if (piece[axis] == 0) return true;
      const int64_t wanted = ceil_div(whole_[axis], piece[axis]), present = extents[axis] / piece[axis];
      if (wanted % present != 0 || ranks % (wanted / present) != 0) return false;
      ranks /= wanted / present;
    }
    return true;
  }

  void add(const CutLayout& layout) {
    add_if_it_fits(layout);
    if (stage_ == CutStage::kZigzag) add_gathered(layout);
    if (has_groups()) add_grouped(layout, 0, stage_ == CutStage::kGroups ? 1 : 2);
  }

  void add_if_it_fits(const CutLayout& layout) {
    if (stage_of(layout) != stage_ || !fits_shapes(layout, pieces_, whole_)) return;
    if (found_.items.size() < kMostLayouts) {
      found_.items.push_back(layout);
    } else {
      found_.cut_off = true;
    }
  }

  // Some axis that is not cut.
  void add_gathered(const CutLayout& layout) {
    for (uint32_t axis = 0; axis < whole_.size(); ++axis) {
      if (layout.cuts(axis)) continue;
      for (const int64_t ranks : divisors_) {
        if (ranks == 1) continue;
        CutLayout gathered = layout;
        gathered.dims.push_back({1, CutRole::kGathered, axis, {ranks}});
        add_if_it_fits(gathered);
      }
    }
  }

  // Up to so many of the cuts from `first` on in groups.
  void add_grouped(const CutLayout& layout, size_t first, int most) {
    for (size_t dim = first; dim < layout.dims.size() && most > 0; ++dim) {
      for (const std::vector<int64_t>& groups : groups_of(layout.dims[dim])) {
        CutLayout grouped = layout;
        grouped.dims[dim].groups = groups;
        add_if_it_fits(grouped);
        if (stage_ == CutStage::kMixed) add_gathered(grouped);
        add_grouped(grouped, dim + 1, most - 1);
      }
    }
  }

  // That its axis of a piece can be cut into.
  [[nodiscard]] std::vector<std::vector<int64_t>> groups_of(const CutDim& dim) const {
    std::vector<std::vector<int64_t>> patterns;
    if (!is_cut(dim.role)) return patterns;
    const int64_t extent = pieces_.shapes.front()[dim.axis];
    for (int64_t groups = 2; groups <= kMostGroups; ++groups) {
      if (extent % groups == 0) patterns.emplace_back(static_cast<size_t>(groups), 1);
    }
    for (int64_t ratio = 2; dim.role == CutRole::kConcat && ratio <= kMostRatio; ++ratio) {
      if (extent % (ratio + 2) == 0) patterns.push_back({ratio, 1, 1});
    }
    return patterns;
  }

  static constexpr int kMostOver = 3;  // by which one dimension is more complex than the simplest

  const PieceShapes& pieces_;
  const Shape& whole_;
  const bool reduced_;
  const CutStage stage_;
  const std::vector<int64_t> divisors_;  // of the ranks
  Bounded<CutLayout> found_;
};

}  // namespace

Bounded<CutLayout> layouts_of(const PieceShapes& pieces, const Shape& whole, bool reduced, CutStage stage) {
  return Layouts(pieces, whole, reduced, stage).run();
}

CutStage stage_of(const CutLayout& layout) {
  if (layout.has(CutRole::kMax)) return CutStage::kMaxima;
  int groups = 0;
  for (const CutDim& dim : layout.dims) groups += dim.role != CutRole::kGathered && !dim.groups.empty() ? 1 : 0;
  const bool gathered = layout.has(CutRole::kGathered);
  if (groups > 1 || (groups == 1 && gathered)) return CutStage::kMixed;
  if (groups == 1) return CutStage::kGroups;
  return gathered || layout.has(CutRole::kZigzag) ? CutStage::kZigzag : CutStage::kPlain;
}

std::vector<CutGroup> groups_of(const CutLayout& layout, const Shape& piece) {
  Shape extents = piece;
  std::vector<CutGroup> groups;
  for (const CutDim& dim : layout.dims) {
    if (!is_cut(dim.role)) continue;
    extents[dim.axis] *= dim.extent;
    if (dim.groups.empty()) continue;
    const int64_t all = std::accumulate(dim.groups.begin(), dim.groups.end(), int64_t{0});
    groups.push_back({dim.axis, extents[dim.axis] / all * dim.groups.front(), dim.groups.front() / dim.groups.back()});
  }
  return groups;
}

bool may_go_together(std::span<const CutGroup> a, std::span<const CutGroup> b) {
  return std::all_of(a.begin(), a.end(), [&](const CutGroup& one) {
    return std::none_of(b.begin(), b.end(), [&](const CutGroup& other) {
      return one.axis == other.axis && (one.extent != other.extent || one.ratio != other.ratio);
    });
  });
}

Bounded<Shape> wholes_of(std::span<const Shape> a, std::span<const Shape> b) {
  if (a.front().size() != b.front().size()) return {};
  if (b.size() == 1) return {{b.front()}};
  if (a.size() == 1) return {{a.front()}};
  Bounded<Shape> wholes{{Shape()}};
  const auto extents_of = [](std::span<const Shape> pieces, size_t axis) {
    std::set<int64_t> extents;
    for (const int64_t divisor : divisors_of(static_cast<int64_t>(pieces.size())))
      extents.insert(pieces.front()[axis] * divisor);
    int64_t sum = 0;
    for (const Shape& one : pieces) sum += one[axis];
    extents.insert(sum);
    return extents;
  };
  for (size_t axis = 0; axis < a.front().size(); ++axis) {
    const std::set<int64_t> in_a = extents_of(a, axis), in_b = extents_of(b, axis);
    std::vector<Shape> longer;
    for (const Shape& whole : wholes.items) {
      for (const int64_t extent : in_a) {
        if (!in_b.contains(extent)) continue;
        if (longer.size() >= kMostLayouts) {
          wholes.cut_off = true;
          break;
        }
        longer.push_back(whole);
        longer.back().push_back(extent);
      }
    }
    wholes.items = std::move(longer);
  }
  std::stable_sort(wholes.items.begin(), wholes.items.end(), [](const Shape& x, const Shape& y) {
    return element_count(x).value_or(0) < element_count(y).value_or(0);
  });
  return wholes;
}

// Pieces that are alike and no padding: all have as much of the whole as the first.
bool fits_shapes(const CutLayout& layout, const PieceShapes& pieces, const Shape& whole) {
  const auto ranks = static_cast<int64_t>(pieces.shapes.size());
  Shape extents = pieces.shapes.front();
  for (const CutDim& dim : layout.dims) {
    if (is_cut(dim.role) && dim.axis < extents.size()) extents[dim.axis] *= dim.extent;
  }
  const bool even = pieces.alike && extents == whole;
  int64_t covered = 0;
  for (int64_t rank = 0; rank < (even ? 1 : ranks); ++rank) {
    const auto segments = segments_of(layout, rank, pieces, whole);
    if (segments.size() != whole.size()) return false;
    int64_t volume = 1;
    for (const std::vector<AxisSegment>& of_axis : segments) {
      int64_t extent = 0;
      for (const AxisSegment& segment : of_axis) extent += segment.size;
      volume *= extent;
    }
    covered += even ? ranks * volume : volume;
  }
  int64_t times = layout.copies();
  for (const CutDim& dim : layout.dims) {
    if (is_reduced(dim.role)) times *= dim.extent;
  }
  return covered == times * element_count(whole).value_or(-1);
}

}  // namespace msdump
