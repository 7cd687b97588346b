// The last stage of the noise model: how far each output lies above what its siblings lead one to expect.
#pragma once

#include "divergence/model/run_operators.h"
#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets `residual`, `siblings`, `score` and `beyond_arithmetic`; outputs that consist of rounding are not judged. Returns
// the limit of an alarm: 0 where no output is judged.
double score_outputs(const RunView& view, const RunOperators& operators, double storage_rounding,
                     ScoredOutputs& outputs);

}  // namespace msdump
