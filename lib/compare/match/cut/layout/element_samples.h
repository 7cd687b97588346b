// What a search for layouts (layout_search.h) looks at where tensors have elements: some of the elements of the wholes that
// the layouts make.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/cut/layout/cut_layout.h"
#include "compare/match/cut/layout/piece_values.h"

namespace msdump {

// Of two wholes: the share of what was looked at that agrees, and how far it is apart, relative to the reference.
struct Nearness {
  double agreement = 0, error = 0;
};

// Is anything true of two neighbouring terms of a sum, or of two neighbours that have maxima? By their places in the mesh.
template <class Test>
bool any_terms(const CutLayout& layout, const Test& test) {
  int64_t stride = 1;
  for (const CutDim& dim : layout.dims) {
    for (int64_t place = stride; is_reduced(dim.role) && place < layout.ranks(); ++place) {
      const bool has_neighbour = place / stride % dim.extent > 0;
      if (has_neighbour && test(static_cast<size_t>(place - stride), static_cast<size_t>(place))) return true;
    }
    stride *= dim.extent;
  }
  return false;
}

struct ElementSamples {
  using Pieces = PieceValues;
  using Places = std::vector<std::vector<int64_t>>;  // coordinates
  static constexpr bool kInOrder = true;             // tell where an element is
  static constexpr double kSameNumber = 1e-3;        // relative, of a single number, as the loss

  // Spread over a tensor, and so are the first of them; not at equal distances, which may be those of rows.
  [[nodiscard]] static Places places_of(const Shape& shape, bool few);
  // Of the whole, as a layout puts one of its copies together.
  [[nodiscard]] static std::vector<double> values_of(PieceValues& pieces, const CutLayout& layout, int64_t copy,
                                                     const Shape& whole, const Places& places);
  // Terms of a sum are not equal, nor are maxima of several parts: where two are, all are copies of something that a factor
  // or a fault sets apart from the other side.
  [[nodiscard]] static bool reduces_equals(PieceValues& pieces, const CutLayout& layout);
  // Is it one number, equal on all ranks, and neither a multiple of the other side's nor a whole part of it, as numbers of
  // ranks make? It then differs, however it is cut.
  [[nodiscard]] static bool is_other_number(PieceValues& a, PieceValues& b);
  // Not one value everywhere, which every layout fits.
  [[nodiscard]] static bool tell(const std::vector<double>& a, const std::vector<double>& b);

  // The elements of the reference, and how near is near: a part of their median deviation, so that a few large ones do not
  // hide the others, and what the dtype rounds. A single number deviates from nothing, and what it was computed from may be
  // coarser than its own dtype.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& whole);
    // Of one copy of the candidate or of several. `hurry`: of values that have nothing to do with each other, of which a
    // tenth agrees, only some are looked at.
    [[nodiscard]] Nearness nearness(const std::vector<double>& a, double factor, bool hurry = false) const;
    // With the factor, whatever it is, that brings `a` nearest; 0 where none does by far.
    [[nodiscard]] double scaled_agreement(const std::vector<double>& a) const;

   private:
    std::vector<double> values_;
    double roundoff_, near_ = 0;
  };
};

}  // namespace msdump
