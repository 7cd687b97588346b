// Pairs two dumps that are cut differently over their ranks: by tensors (TP), experts (EP), the sequence (SP, CP), the
// batch (DP), layers (PP), mixtures of these, or not at all. Operators are paired as on one rank (pairing.h), tensors as
// wholes: how each lies on the ranks is found from shapes and values (layout_search.h).
//
// A collective of one side alone is paired with the value of the other side that goes into it: whatever it does to the
// pieces, the whole stays the same, so that a sum that should be a mean shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/match/placement/placement_file.h"
#include "compare/match/placement/placement_search.h"
#include "compare/match/placement/sharded_side.h"
#include "compare/match/rename/name_map.h"
#include "compare/statistics/statistic_tables.h"
#include "io/run_context.h"

namespace msdump {

// Of a tensor pair.
struct CutNote {
  std::string layout, reference_layout;  // text_of(CutLayout); empty: one rank, or not known
  std::vector<int64_t> ranks;            // of the candidate, else of the reference; ascending
  double confidence = 0;                 // 0: no layout fits the shapes
  bool known = false;                    // CutFit::known
  CutLayout a, b;                        // where a layout fits the shapes
  std::string problem;     // a layout that the user states does not fit the shapes: which, and where it says so
  std::string unreadable;  // the part that cannot be read, so that there is no whole to compare
  std::string lacking;     // the rank that does not have it, where no layout fits the others
  bool uneven = false;     // copies of the candidate are not equal: the one that is furthest off is compared
};

struct PairedCuts {
  std::unique_ptr<CutSide> a, b;
  Pairing pairing;
  std::vector<CutNote> notes;  // by Pairing::tensors
};

// What these point to must outlive the result.
struct CutInput {
  const CompareSide& side;
  StatisticTables& tables;
};

// `map` and `layouts`, what the user knows, may be null. An error when interrupted.
Result<PairedCuts> pair_cuts(const CutInput& a, const CutInput& b, const NameMap* map, const LayoutRules* layouts,
                             const RunContext& context);

}  // namespace msdump
