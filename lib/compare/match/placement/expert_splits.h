// Calls under one name that are another call on each rank, as those of experts are: a weight that differs between the ranks
// of one side and is, part by part, the weight of different calls of the other side. The calls between such calls and their
// backward calls are split with them.
#pragma once

#include "compare/match/placement/sharded_match.h"

namespace msdump {

struct CutSplitsOfBoth {
  CutSplits a, b;
};
// An error when interrupted or when a tensor cannot be read.
Result<CutSplitsOfBoth> find_expert_splits(const CutMatch& match);

}  // namespace msdump
