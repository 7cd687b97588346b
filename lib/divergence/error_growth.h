// How the error grows along the operators of a comparison.
#pragma once

#include "divergence/divergence.h"
#include "divergence/model/noise_model.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Of the first rank and step, without integers and truth values.
[[nodiscard]] ErrorGrowth error_growth(const RunView& view, const NoiseModel& model);

}  // namespace msdump
