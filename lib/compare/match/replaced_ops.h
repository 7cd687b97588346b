// Operators without a partner that stand in each other's place: what is left of both sides where one line of a network
// changed, MaxPool into AvgPool, ReduceMean into ReduceSum.
//
// Two operators replace each other if an input of both comes from partners, or neither has producers, and an output of
// both goes to partners, or neither has readers, and no other operator shares as many neighbours with either of them.
// Each such pair is a neighbour for the next: a gradient follows its forward operator.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reached_limits.h"
#include "compare/match/op_sequence.h"
#include "compare/match/sequence_flow.h"

namespace msdump {

// One side of a pairing.
struct PairedSide {
  const SequenceFlow& flow;
  std::vector<uint32_t>& partners;  // by operator: that of the other side, or kNoOperator
};

// Enters the pairs into the partners of both sides, and returns the operators of a that got one.
std::vector<uint32_t> pair_replaced(const PairedSide& a, const PairedSide& b, ReachedLimits& limits);

}  // namespace msdump
