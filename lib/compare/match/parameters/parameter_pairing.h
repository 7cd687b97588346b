// pair_parameters(): pairs the parameters of two checkpoints, or of a checkpoint and a dump.
//
//   1. --map, then names, then values (same_parameters.h, parameter_views.h)
//   2. a parameter without a partner that has the values of one with a partner is tied: the other side keeps both as one
//   3. what nothing decides stays without a partner
//
// Tensors of a dump that are not parameters are left out, and so are all steps but the first.
// Cost: 64 values of each parameter whose name the other side does not have, and of its possible partners. Parameters that
// may be tied are read completely.
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
  // The tensors of both sides, followed by the parts and views that the pairing refers to.
  Sides<std::vector<TensorRecord>> tensors;
  std::deque<TensorView> views;  // of `tensors`
};

// `map` may be null. `files` are null unless both are checkpoints. An error if interrupted.
Result<PairedParameters> pair_parameters(const CompareSide& a, const CompareSide& b, const NameMap* map,
                                         const Sides<const ParameterFiles*>& files, const CancelToken& cancel);

}  // namespace msdump
