// Finds how one tensor is placed on the ranks of both sides of a comparison (placement.h), from the shapes of the local tensors
// and a few hundred of their elements. Each placement that the shapes allow is assembled; the one whose elements equal the
// other side's is taken. Among several that fit, the one that other tensors of the kind have, then the simplest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/match/placement/placement.h"
#include "compare/match/placement/placement_samples.h"
#include "compare/sides.h"

namespace msdump {

// The placements of both sides, and how well they fit.
struct PlacementFit : Sides<Placement> {
  Shape global;
  double agreement = 0;         // the share of the elements that agree
  double error = 0;             // of the root mean square, relative to the reference
  bool is_informative = false;  // the values vary; equal ones fit every placement
  double confidence = 0;        // from 0 to 1: how much better it fits than the best placement of other elements
  bool cut_off = false;         // nothing fits, and more than kMostPlacements were possible
  bool is_established = false;  // by its own values or those of its kind: a remaining difference is real
};

// The placements that were found with confidence, by kind of tensor. They break ties.
class PlacementPrior {
 public:
  // `kind`: the same slot of the same call in other layers has the same one.
  void add(const std::string& kind, const PlacementFit& fit);
  // The most frequent; null if there is none.
  [[nodiscard]] const PlacementFit* of_kind(const std::string& kind) const;
  [[nodiscard]] uint64_t count(const std::string& kind, const Placement& a, const Placement& b) const;

 private:
  std::map<std::string, std::map<std::string, std::pair<uint64_t, PlacementFit>>> kinds_;
};

struct PlacementQuery {
  std::string kind;
  // Factors that gradients may have: they are too large if each rank averages over its own samples.
  Sides<std::vector<double>> factors;
  // kPlain: neither blocks nor mixtures; kQuick: no mixtures, and fewer elements; kUsual: no mixtures
  enum class Effort : uint8_t { kPlain, kQuick, kUsual, kThorough };
  Effort effort = Effort::kThorough;
  Sides<std::optional<Placement>> stated;  // by the user: no other is tried
};

// Nothing if the shapes allow no placement.
[[nodiscard]] std::optional<PlacementFit> find_placement(LocalValues& a, LocalValues& b, const PlacementQuery& query,
                                                         const PlacementPrior& prior);
// By statistics, which do not show the order of shards: plain placements only.
[[nodiscard]] std::optional<PlacementFit> find_placement(LocalStatistics& a, LocalStatistics& b,
                                                         const PlacementQuery& query, const PlacementPrior& prior);

}  // namespace msdump
