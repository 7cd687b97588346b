// Partners by values: where the tensors of two operators that are paired by their place do not fit, or an operator has no
// partner, another one of its kind nearby whose tensors all do. Cost: a bounded number of trials for an operator and for a
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/placement/sharded_match.h"

namespace msdump {

// By operator of the candidate: that of the reference, or kNoOperator. An error when interrupted.
Result<std::vector<uint32_t>> partners_by_values(ShardedMatch& match);

// What one side computes in other calls than the other side: t, matmul and add against linear, mean of a masked loss against
// cross_entropy. Between two operators that have partners, the tensors of the candidate's calls without a partner are paired
// by their values with those of the reference's calls, whatever the calls are. The loss, which is one number, is paired
// also where it differs: it is what the last forward calls leave.
//
// Cost: a bounded number of trials for a call and for a run.

// Adds these partners to the pairing. An error when interrupted.
Status pair_value_twins(ShardedMatch& match);

}  // namespace msdump
