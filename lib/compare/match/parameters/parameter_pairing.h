// Two checkpoints, or a checkpoint and the parameters in a dump: which parameter is which.
//
//   1. --map, then names, then values (same_parameters.h, parameter_views.h)
//   2. a parameter without partner that has the values of one with a partner is tied: the other side keeps both as one
//   3. what nothing decides stays without partner
// Of a dump only the parameters are paired, of several steps those of the first.
// Cost: 64 values of each parameter whose name the other side does not have, and of its possible partners; all elements
// of parameters that may be tied.
#pragma once

#include <deque>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"
#include "compare/match/parameters/parameter_side.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"

namespace msdump {

struct PairedParameters {
  Pairing pairing;
  // Those of both sides, and after them the parts and views that the pairing refers to.
  Sides<std::vector<TensorRecord>> tensors;
  std::deque<TensorView> views;  // of these
};

// `map` may be null. An error when interrupted.
Result<PairedParameters> pair_parameters(const CompareSide& a, const CompareSide& b, const NameMap* map,
                                         const CancelToken& cancel);

}  // namespace msdump
