// find_placement(): finds how one tensor is placed on the ranks of both sides of a comparison (placement.h). It looks at the
// shapes of the local tensors and at a few hundred of their elements.
//
// Each placement that the shapes allow is assembled, and the one whose elements equal the other side's is taken. Among
// several that fit, it is the simplest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/match/placement/placement.h"
#include "compare/match/placement/placement_samples.h"
#include "compare/sides.h"

namespace msdump {

// From this agreement on a placement fits; if none reaches the other, none does.
inline constexpr double kFits = 0.9, kUnclear = 0.6;
// The confidence from which on a placement is an example for other tensors of its kind, and the most that statistics give:
// they do not show the order of elements.
inline constexpr double kCertain = 0.8;

// The placements of both sides, and how well they fit.
struct PlacementFit : Sides<Placement> {
  Shape global;
  double agreement = 0;         // the share of the elements that agree
  double error = 0;             // relative L2 error of the elements; of statistics the largest relative distance
  bool is_informative = false;  // the values vary; equal ones fit every placement
  double confidence = 0;        // the agreement; half of it if another placement fits as well, or none fits
  bool cut_off = false;         // nothing fits, and more than kMostFollowed were possible
  bool is_established = false;  // by its own values or those of its kind: a remaining difference is real
};

// The placements that were found with confidence, by kind of tensor. Values that fit nothing get that of their kind.
class PlacementPrior {
 public:
  // Tensors of one `kind` are expected to have one placement: the same slot of the same call in other layers.
  void add(const std::string& kind, const PlacementFit& fit);
  // The most frequent; null if there is none.
  [[nodiscard]] const PlacementFit* of_kind(const std::string& kind) const;

 private:
  std::map<std::string, std::vector<std::pair<uint64_t, PlacementFit>>> kinds_;  // with how often each was found
};

struct PlacementQuery {
  std::string kind;
  // Factors that gradients may have: they are too large if each rank averages over its own samples.
  Sides<std::vector<double>> factors;
  // kPlain tries neither blocks nor mixtures, kQuick no mixtures and fewer elements, kUsual no mixtures.
  enum class Effort : uint8_t { kPlain, kQuick, kUsual, kThorough };
  Effort effort = Effort::kThorough;
  Sides<std::optional<Placement>> stated;  // by the user: no other placement is tried
};

// No value if the shapes allow no placement. `Locals` is LocalValues or LocalStatistics. Statistics do not show the order of
// shards, so only plain placements are tried by them.
template <class Locals>
[[nodiscard]] std::optional<PlacementFit> find_placement(Locals& a, Locals& b, const PlacementQuery& query,
                                                         const PlacementPrior& prior);

}  // namespace msdump
