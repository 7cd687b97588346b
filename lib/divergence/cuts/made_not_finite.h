// Where NaN and infinities come from in runs that are cut differently: calls of the candidate alone lie between what is
// compared, and a difference of its own does not show in the finite elements of what they leave.
#pragma once

#include <cstdint>

#include "divergence/runs/run_view.h"

namespace msdump {

// A run reads a number that is not finite where the reference's is: the call of the candidate alone that made it of
// finite ones. kNoRun where none goes in, or where the values do not lead back to such a call.
[[nodiscard]] uint32_t maker_of_not_finite(const RunView& view, uint32_t run);

}  // namespace msdump
