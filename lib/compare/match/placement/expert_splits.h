// find_expert_splits(): finds calls that have one name but are different calls on each rank, such as those of experts. Such
// a call has a weight that differs between the ranks of one side. Each part of it is the weight of another call of the other
// side. Calls between such calls, and backward calls, are split with them.
#pragma once

#include "compare/match/placement/sharded_match.h"

namespace msdump {

// An error if interrupted or if a tensor cannot be read.
Result<Sides<ExpertSplits>> find_expert_splits(const ShardedMatch& match);

}  // namespace msdump
