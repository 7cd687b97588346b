// A layout with each factor that it explains between the tensor and what its parts make, and how complex that is: of two
// explanations that fit alike, the simpler one is taken.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/match/placement/placement.h"

namespace msdump {

struct ScaledLayout {
  double factor = 1;
  CutLayout layout;  // says so: a mean in the place of a sum, or a factor of its own
  int complexity = 0;
};

// The complexity of one dimension of a layout, from kLeastComplexity up. Cuts in groups cost more.
inline constexpr int kLeastComplexity = 1;
[[nodiscard]] int complexity_of(const CutDim& dim);

// The first has the factor 1. `gradient`: what gradients may be multiplied by. A stated layout has its own factor alone.
[[nodiscard]] std::vector<ScaledLayout> scaled_layouts(CutLayout layout, const std::vector<double>& gradient,
                                                       bool is_stated);

// Of both sides together. Sides that are cut in the same groups are cut by one rule over other numbers of ranks. Where both
// sides are added and one is joined, too, the sums hide the order of what is joined, and a factor says the same with less.
[[nodiscard]] int complexity_of(const ScaledLayout& a, const ScaledLayout& b);

// Equal for layouts that are alike.
[[nodiscard]] std::string key_of(const CutLayout& layout);

// The layouts (cut_layout.h) that the shapes of the pieces allow, before their values are looked at: meshes of up to four
// dimensions, those with fewer dimensions first, and of these the less complex ones (layout_factors.h). Their number is
// bounded; the bound leaves out the most complex ones.

// What is tried: the later ones only if the earlier ones do not fit. kMixed takes longest. kMaxima is
// not one of the order: plain layouts, with maxima instead of sums.
enum class CutStage : uint8_t { kPlain, kZigzag, kGroups, kMixed, kMaxima };
inline constexpr std::array kCutStages = {CutStage::kPlain, CutStage::kZigzag, CutStage::kGroups, CutStage::kMixed};

inline constexpr size_t kMostLayouts = 512;
template <class Item>
struct Bounded {
  std::vector<Item> items;
  bool cut_off = false;  // true if there may be more than kMostLayouts
};
// The layouts of this stage alone. `reduced`: the pieces may be terms of a sum or maxima.
[[nodiscard]] Bounded<CutLayout> layouts_of(const PieceShapes& pieces, const Shape& whole, bool reduced,
                                            CutStage stage);
// The wholes that the pieces of both sides may be parts of, the smallest first.
[[nodiscard]] Bounded<Shape> wholes_of(std::span<const Shape> a, std::span<const Shape> b);
// The first stage that has a layout.
[[nodiscard]] CutStage stage_of(const CutLayout& layout);
// A cut in groups, by the extent of a group in the whole, such as the heads of a sample, or of the first of several sizes.
struct CutGroup {
  uint32_t axis = 0;
  int64_t extent = 0;
  int64_t ratio = 1;  // of the first size to the last
};
// Of pieces of one shape.
[[nodiscard]] std::vector<CutGroup> groups_of(const CutLayout& layout, const Shape& piece);
// Two sides of one tensor: where both cut an axis in groups, these are the same ones.
[[nodiscard]] bool may_go_together(std::span<const CutGroup> a, std::span<const CutGroup> b);
// Are the shapes of the pieces those of such a layout?
[[nodiscard]] bool fits_shapes(const CutLayout& layout, const PieceShapes& pieces, const Shape& whole);

}  // namespace msdump
