#include "compare/match/cut/layout/layout_choices.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace msdump {
namespace {

constexpr size_t kMostDims = 4, kMostLayouts = 512;
constexpr int64_t kMostRatio = 8;    // of the queries to the keys of a fused tensor
constexpr int64_t kMostGroups = 64;  // of one size, as the heads of each sample

std::vector<int64_t> divisors_of(int64_t number) {
  std::vector<int64_t> divisors;
  for (int64_t i = 2; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors;
}

// All layouts of one side.
class Layouts {
 public:
  Layouts(std::span<const Shape> pieces, const Shape& whole, bool reduced, CutStage stage)
      : pieces_(pieces), whole_(whole), reduced_(reduced), stage_(stage) {}

  std::vector<CutLayout> run() {
    extend({}, static_cast<int64_t>(pieces_.size()));
    return std::move(found_);
  }

 private:
  void extend(const CutLayout& layout, int64_t ranks) {
    if (found_.size() >= kMostLayouts) return;
    if (ranks == 1) return add(layout);
    if (layout.dims.size() >= kMostDims) return;
    for (const int64_t extent : divisors_of(ranks)) {
      for (const CutDim& dim : choices(extent)) {
        // Of two along one axis, one may have groups.
        const bool one = dim.role == CutRole::kCopy || (dim.role == CutRole::kConcat && !has_groups());
        const bool merges =
            one && !layout.dims.empty() && layout.dims.back().role == dim.role && layout.dims.back().axis == dim.axis;
        if (merges) continue;
        CutLayout longer = layout;
        longer.dims.push_back(dim);
        if (may_fit(longer)) extend(longer, ranks / extent);
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

  // Not larger than the whole by as much as a piece.
  [[nodiscard]] bool may_fit(const CutLayout& layout) const {
    Shape extents = pieces_.front();
    for (const CutDim& dim : layout.dims) {
      if (dim.role != CutRole::kConcat && dim.role != CutRole::kZigzag) continue;
      extents[dim.axis] *= dim.extent;
      if (extents[dim.axis] >= whole_[dim.axis] + 2 * pieces_.front()[dim.axis]) return false;
    }
    return true;
  }

  void add(const CutLayout& layout) {
    add_if_it_fits(layout);
    if (stage_ == CutStage::kZigzag) add_gathered(layout);
    if (has_groups()) add_grouped(layout, 0, stage_ == CutStage::kGroups ? 1 : 2);
  }

  void add_if_it_fits(const CutLayout& layout) {
    if (found_.size() < kMostLayouts && fits_shapes(layout, pieces_, whole_)) found_.push_back(layout);
  }

  // Some axis that is not cut.
  void add_gathered(const CutLayout& layout) {
    for (uint32_t axis = 0; axis < whole_.size(); ++axis) {
      if (layout.cuts(axis)) continue;
      for (const int64_t ranks : divisors_of(static_cast<int64_t>(pieces_.size()))) {
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
    if (dim.role != CutRole::kConcat && dim.role != CutRole::kZigzag) return patterns;
    const int64_t extent = pieces_.front()[dim.axis];
    for (int64_t groups = 2; groups <= kMostGroups; ++groups) {
      if (extent % groups == 0) patterns.emplace_back(static_cast<size_t>(groups), 1);
    }
    for (int64_t ratio = 2; dim.role == CutRole::kConcat && ratio <= kMostRatio; ++ratio) {
      if (extent % (ratio + 2) == 0) patterns.push_back({ratio, 1, 1});
    }
    return patterns;
  }

  std::span<const Shape> pieces_;
  const Shape& whole_;
  const bool reduced_;
  const CutStage stage_;
  std::vector<CutLayout> found_;
};

}  // namespace

std::vector<CutLayout> layouts_of(std::span<const Shape> pieces, const Shape& whole, bool reduced, CutStage stage) {
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
    if (dim.role != CutRole::kConcat && dim.role != CutRole::kZigzag) continue;
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

std::vector<Shape> wholes_of(std::span<const Shape> a, std::span<const Shape> b) {
  if (a.front().size() != b.front().size()) return {};
  if (b.size() == 1) return {b.front()};
  if (a.size() == 1) return {a.front()};
  std::vector<Shape> wholes(1);
  const auto extents_of = [](std::span<const Shape> pieces, size_t axis) {
    std::set<int64_t> extents = {pieces.front()[axis]};
    const auto ranks = static_cast<int64_t>(pieces.size());
    for (const int64_t divisor : divisors_of(ranks)) extents.insert(pieces.front()[axis] * divisor);
    int64_t sum = 0;
    for (const Shape& one : pieces) sum += one[axis];
    extents.insert(sum);
    return extents;
  };
  for (size_t axis = 0; axis < a.front().size(); ++axis) {
    const std::set<int64_t> in_a = extents_of(a, axis), in_b = extents_of(b, axis);
    std::vector<Shape> longer;
    for (const Shape& whole : wholes) {
      for (const int64_t extent : in_a) {
        if (!in_b.contains(extent) || longer.size() >= kMostLayouts) continue;
        longer.push_back(whole);
        longer.back().push_back(extent);
      }
    }
    wholes = std::move(longer);
  }
  std::stable_sort(wholes.begin(), wholes.end(), [](const Shape& x, const Shape& y) {
    return element_count(x).value_or(0) < element_count(y).value_or(0);
  });
  return wholes;
}

bool fits_shapes(const CutLayout& layout, std::span<const Shape> pieces, const Shape& whole) {
  int64_t covered = 0;
  for (int64_t rank = 0; rank < static_cast<int64_t>(pieces.size()); ++rank) {
    const auto segments = segments_of(layout, rank, pieces, whole);
    if (segments.size() != whole.size()) return false;
    int64_t volume = 1;
    for (const std::vector<AxisSegment>& of_axis : segments) {
      int64_t extent = 0;
      for (const AxisSegment& segment : of_axis) extent += segment.size;
      volume *= extent;
    }
    covered += volume;
  }
  int64_t times = layout.copies();
  for (const CutDim& dim : layout.dims) {
    if (is_reduced(dim.role)) times *= dim.extent;
  }
  return covered == times * element_count(whole).value_or(-1);
}

}  // namespace msdump
