// What a search for layouts (layout_search.h) looks at where tensors have statistics alone: those of the wholes that the
// layouts make (merged_statistics.h), each as the range in which it lies.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/cut/layout/cut_layout.h"
#include "compare/match/cut/layout/element_samples.h"
#include "compare/match/cut/layout/piece_statistics.h"

namespace msdump {

struct StatisticSamples {
  using Pieces = PieceStatistics;
  struct Places {};
  static constexpr bool kInOrder = false;

  [[nodiscard]] static Places places_of(const Shape&, bool) { return {}; }
  // Of each of max, min, mean and norm the lower and the upper end; NaN: not known.
  [[nodiscard]] static std::vector<double> values_of(const PieceStatistics& pieces, const CutLayout& layout,
                                                     int64_t copy, const Shape& whole, Places);
  // As of elements, by the statistics.
  [[nodiscard]] static bool reduces_equals(const PieceStatistics& pieces, const CutLayout& layout);
  [[nodiscard]] static bool is_other_number(const PieceStatistics& /*a*/, const PieceStatistics& /*b*/) {
    return false;
  }
  // Not one value everywhere, and extremes that are known on both sides: those of a sum are a range, which many others fit.
  [[nodiscard]] static bool tell(const std::vector<double>& a, const std::vector<double>& b);

  // How near is near: a part of the magnitude of an extreme and of a norm. Of a mean, of what the mean of so many numbers
  // of this magnitude and of any sign is. Whole numbers are not near each other, but equal: `roundoff` is 0.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& whole);
    [[nodiscard]] Nearness nearness(const std::vector<double>& a, double factor, bool /*hurry*/ = false) const;
    // A factor of four numbers tells nothing.
    [[nodiscard]] static double scaled_agreement(const std::vector<double>&) { return 0; }

   private:
    std::vector<double> values_, units_;
    double near_ = 0;
  };
};

}  // namespace msdump
