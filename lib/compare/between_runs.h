// What may have happened between the run that wrote a value and the run that reads another one: an operator that one side
// alone has, a cast, a coarser dtype that hid the error.
#pragma once

#include <cstdint>
#include <string>

#include "compare/run_view.h"

namespace msdump {

// Of the runs in [first, end) that one side alone has, the one to name: the candidate's that turns to a coarser dtype,
// else its last, else the reference's last; kNoRun: none. A module whose operators have partners does not count, nor does
// a forward call for a backward one. Between frameworks, which have operators of their own, none counts.
[[nodiscard]] uint32_t one_sided_between(const RunView& view, uint32_t first, uint32_t end);

// Do the outputs of a run have a coarser dtype than its inputs?
[[nodiscard]] bool turns_coarser(const RunView& view, uint32_t run);

// In words: what a hook of the script does in the middle of a backward pass is a forward call of its own.
[[nodiscard]] std::string happened_between(const RunView& view, uint32_t first, uint32_t end);

// Is an input no more wrong than the output that it was, which is close?
[[nodiscard]] bool inherits(const RunView& view, const FlowInput& input);
// The run where an error began that is within the tolerance of a coarser dtype.
[[nodiscard]] uint32_t origin_of_error(const RunView& view, uint32_t run);

}  // namespace msdump
