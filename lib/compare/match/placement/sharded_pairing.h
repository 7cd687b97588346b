// pair_sharded(): pairs two dumps that are sharded differently over their ranks. They are sharded by tensors (TP), experts
// (EP), the sequence (SP, CP), the batch (DP), layers (PP), mixtures of these, or not at all.
//
// Operators are paired as on one rank (pairing.h). Tensors are paired as global tensors: the placement of each is found from
// shapes and values (placement_search.h).
//
// A collective of one side alone is paired with the value of the other side that goes into it. A collective does not change
// the global tensor, so a sum that should be a mean shows.
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

// The placements of a tensor pair.
struct PlacementNote {
  std::string layout, reference_layout;  // text_of(Placement); empty: one rank, or unknown
  std::vector<int64_t> ranks;            // of the candidate, else of the reference; ascending
  double confidence = 0;                 // 0: no placement fits the shapes
  bool is_established = false;           // PlacementFit::is_established
  Placement a, b;                        // set if a placement fits the shapes
  std::string problem;                   // the stated placement that does not fit the shapes, with its line
  std::string unreadable;                // the local tensor that cannot be read, so that there is no global tensor
  std::string lacking;                   // the rank that lacks the tensor, if no placement was found for the others
  bool uneven = false;                   // the candidate's replicas differ: the one that is furthest off is compared
};

// PlacementNote::lacking of a rank.
[[nodiscard]] std::string lacking_text(int64_t rank, Side side);

// Both sides with global tensors, and their pairing.
struct PairedShards : Sides<std::unique_ptr<ShardedSide>> {
  Pairing pairing;
  std::vector<PlacementNote> notes;  // by Pairing::tensors
};

// Both must outlive the result.
struct ShardedInput {
  const CompareSide& side;
  StatisticTables& tables;
};

// The error of a tensor of the first side, compared with one of the second; -1 if one cannot be read.
[[nodiscard]] double error_between(const ShardedInput& of_a, const TensorRecord& a, const ShardedInput& of_b,
                                   const TensorRecord& b, const RunContext& context);

// `map` and `stated` are the names and placements that the user knows; may be null. An error if interrupted.
Result<PairedShards> pair_sharded(const ShardedInput& a, const ShardedInput& b, const NameMap* map,
                                  const PlacementRules* stated, const RunContext& context);

}  // namespace msdump
