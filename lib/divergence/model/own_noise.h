// The second stage of the noise model: how much rounding the two sides of a pair add, taken from the pair itself.
#pragma once

#include "divergence/model/run_operators.h"
#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// The relative error of rounding a value to what the coarser side stores, at most. It shows in the parameters and inputs
// of the network: no operator has changed them yet. Files of a wider dtype may hold them.
[[nodiscard]] double find_storage_rounding(const RunView& view);

// Sets `noise`, `noise_above` and `expected` of the outputs that are judged: the rounding that operators add, seen where
// the error of the inputs does not hide it, and never more than the smallest error of the kind. Returns what most
// operators add, at most; 0 where nothing is judged.
double estimate_noise(const RunView& view, const RunOperators& operators, double storage_rounding,
                      ScoredOutputs& outputs);

}  // namespace msdump
