// partners_by_values(): finds partners by values, for operators without one and for pairs by position whose tensors do not
// fit. A partner is an operator of the same kind nearby whose tensors all fit. Cost: a bounded number of trials for an
// operator and for a run.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/placement/sharded_match.h"

namespace msdump {

// The operator of the reference for each of the candidate, or kNoId. An error if interrupted.
Result<std::vector<SequencedOpId>> partners_by_values(ShardedMatch& match);

// pair_value_twins(): pairs values that the two sides compute in different calls. Examples are t, matmul and add against
// linear, or the mean of a masked loss against cross_entropy.
//
// Unpaired calls of the two sides are compared if they lie between the same partners, whatever the calls are. Their tensors
// are paired by values. The loss is the last single number that the forward calls write; it is paired even if it differs.
//
// Cost: a bounded number of trials for a call and for a run.

// Adds these pairs to the pairing. An error if interrupted.
Status pair_value_twins(ShardedMatch& match);

}  // namespace msdump
