// How one tensor lies on the ranks of the two sides of a comparison (cut_layout.h), found from the shapes of the pieces
// and from a few hundred of their elements: the layouts that the shapes allow are put together, and the one whose elements
// are those of the other side is taken. Of several that fit alike, the one that other tensors have, then the simplest.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compare/match/placement/placement.h"
#include "compare/match/placement/placement_samples.h"

namespace msdump {

struct CutFit {
  Shape whole;
  CutLayout a, b;
  double agreement = 0;   // the share of the elements that agree
  double error = 0;       // of the root mean square, relative to the reference
  bool tells = false;     // the values are not all alike
  double confidence = 0;  // from 0 to 1: how much better than the best layout of other elements
  bool cut_off = false;   // nothing fits, and there are more than the kMostLayouts layouts that were tried
  bool known = false;     // its own values say so, or those of its kind: what differs then differs from the other side
};

// What the tensors that were certain had, by what others have in common with them.
class CutPrior {
 public:
  // `kind`: of a tensor, as the same slot of the same call in other layers.
  void add(const std::string& kind, const CutFit& fit);
  [[nodiscard]] const CutFit* of_kind(const std::string& kind) const;
  [[nodiscard]] uint64_t count(const std::string& kind, const CutLayout& a, const CutLayout& b) const;

 private:
  std::map<std::string, std::map<std::string, std::pair<uint64_t, CutFit>>> kinds_;
};

struct CutQuestion {
  std::string kind;
  // Of gradients, which are too large where each rank takes the mean of its own samples: what they may be multiplied by.
  std::vector<double> factors_a, factors_b;
  // kPlain: neither blocks nor mixtures; kQuick: no mixtures, and of fewer elements; kUsual: no mixtures
  enum class Effort : uint8_t { kPlain, kQuick, kUsual, kThorough };
  Effort effort = Effort::kThorough;
  std::optional<CutLayout> stated_a, stated_b;  // what the user knows: no other is tried
};

// No fit: the shapes allow none.
[[nodiscard]] std::optional<CutFit> find_layout(PieceValues& a, PieceValues& b, const CutQuestion& question,
                                                const CutPrior& prior);
// By statistics, which do not tell in which order parts follow each other: plain layouts only.
[[nodiscard]] std::optional<CutFit> find_layout(PieceStatistics& a, PieceStatistics& b, const CutQuestion& question,
                                                const CutPrior& prior);

}  // namespace msdump
