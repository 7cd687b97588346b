// Finds an update that one side alone makes: a parameter that is not given to the optimizer, or that is not frozen. It is exact, whatever
// the noise: a call of one side alone writes what an operator reads in the next step, and on the other side that operator reads its own
// value of the step before. Where both sides have the call, rounding may leave a value as it was. It needs the statistics that msprobe
// writes.
#pragma once

#include <cstddef>
#include <optional>

#include "divergence/model/noise_model.h"
#include "divergence/runs/run_view.h"

namespace msdump {

struct MissedUpdate {
  ExecutionId writer;         // the call of one side alone
  ExecutionId reader;         // the first in the next step
  TensorId tensor;            // its input
  bool of_candidate = false;  // the candidate lacks the update; else the reference does
  size_t values = 0;          // inputs of that step which such updates write
};

// The first, by step and then in the order of the data flow; none if the sides are sharded differently. Linear in the executions and
// tensors.
[[nodiscard]] std::optional<MissedUpdate> first_missed_update(const RunView& view, const NoiseModel& model);

}  // namespace msdump
