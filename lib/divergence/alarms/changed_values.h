// Alarms of values that changed between the run that wrote them and the one that reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/alarms/blame_state.h"

namespace msdump {

// Does a change of the inputs show in the outputs? Where these were not compared it may.
[[nodiscard]] bool matters(const BlameState& state, uint32_t run, const RunInputs& inputs,
                           const std::vector<uint32_t>& outputs);
// An operator that only one side has lies between; or the reader turns to a coarser dtype; or something that was not
// dumped changes the value. Returns whether that explains the run.
bool judge_changed(BlameState& state, uint32_t run, const RunInputs& inputs);

}  // namespace msdump
