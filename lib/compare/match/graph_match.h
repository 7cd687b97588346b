// Which operators of two graphs are the same by the data flow, whatever their numbers and their order.
//
//   1. operators that occur once on each side: with two circles of neighbours, with one, and those that read weights by
//      their kind alone
//   2. from each pair on: what feeds the same input, and the reader of its kind, if there is one on each side
//   3. of operators with equal neighbours, where each side has as many, the first ones; then rule 2 again
// The kind is type, scope, shapes of outputs and the parameters that it reads. Without a data flow on both sides nothing
// is paired. n log n for n operators.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reached_limits.h"
#include "compare/match/op_names.h"
#include "compare/match/op_sequence.h"
#include "compare/match/sequence_flow.h"

namespace msdump {

struct GraphSide {
  SequenceFlow flow;
  std::vector<uint64_t> kinds;  // by operator
};
// Operators of different places are of different kinds.
[[nodiscard]] GraphSide graph_side(const CompareSide& side, const std::vector<SequencedOp>& operators,
                                   ComparedPlaces places);

// By operator of a: that of b, or kNoOperator. No two have the same.
using Partners = std::vector<uint32_t>;

[[nodiscard]] Partners match_graphs(const GraphSide& a, const GraphSide& b, ReachedLimits& limits);

// What the pairs disagree on: inputs of either operator whose producers are not partners, and kinds.
[[nodiscard]] size_t disagreements(const GraphSide& a, const GraphSide& b, const Partners& partners);

}  // namespace msdump
