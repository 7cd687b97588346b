// pair_checkpoints(): pairs two checkpoints, which may be divided over ranks: in the same way, rank by rank; differently, as
// global tensors. The placement of each is found as that of dumps (match/placement/sharded_pairing.h).
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "compare/match/parameters/parameter_pairing.h"
#include "compare/match/placement/sharded_pairing.h"

namespace msdump {

// The parameters of a side before they are put together: of the versions that are compared, named with their files.
struct LocalParameters {
  std::vector<TensorRecord> tensors;
  TextArena names;
};

struct PairedCheckpoints : PairedParameters {
  // If they are divided differently over ranks: the sides with global tensors, and their placements by Pairing::tensors.
  Sides<std::unique_ptr<ShardedSide>> shards;
  std::vector<PlacementNote> notes;
  Sides<std::unique_ptr<LocalParameters>> locals;  // `shards` refer to them
};

// Both must be checkpoints. `map` and `layouts` are the names and placements that the user knows; may be null. An error if
// interrupted.
Result<PairedCheckpoints> pair_checkpoints(const ShardedInput& a, const ShardedInput& b, const NameMap* map,
                                           const PlacementRules* layouts, const RunContext& context);

}  // namespace msdump
