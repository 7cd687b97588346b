// Alarms of what an operator made of its inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/alarms/blame_state.h"

namespace msdump {

// Is an output worse than the inputs explain?
[[nodiscard]] bool stands_out(const BlameState& state, const ScoredOutput& output, const RunInputs& inputs);

void judge_shape(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);
void judge_outputs(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

// Does the run draw random numbers, and did it draw others?
[[nodiscard]] bool draws_differently(const BlameState& state, uint32_t run, const RunInputs& inputs,
                                     const std::vector<uint32_t>& outputs);
// Only one side drops elements: the other passes its input on. Returns whether that is so.
bool judge_one_sided_draw(BlameState& state, uint32_t run, const RunInputs& inputs,
                          const std::vector<uint32_t>& outputs);

// NaN has a flow of its own: an operator that produces it is a root even if other differences went in, unless it
// produces it from the NaN of a root before it.
void judge_nan(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);
// Where the runs are cut differently, NaN may come out of a call that the candidate alone has. All that is not finite
// after the first such root may come of it: edges do not show all that a call of one side alone has read.
void judge_entering_nan(BlameState& state, uint32_t run, const RunInputs& inputs);

}  // namespace msdump
