// A layout with each factor that it explains between the tensor and what its parts make, and how complex that is: of two
// explanations that fit alike, the simpler one is taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/match/cut/layout/cut_layout.h"

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

}  // namespace msdump
