// Where an error began that the tolerance of a coarser dtype hid.
#pragma once

#include <cstdint>

#include "divergence/run_view.h"

namespace msdump {

// Is the error of an input no larger than that of its producer's output, which is close?
[[nodiscard]] bool inherits(const RunView& view, const RunInput& input);
// The run where an error began that is within the tolerance of a coarser dtype.
[[nodiscard]] uint32_t origin_of_error(const RunView& view, uint32_t run);

}  // namespace msdump
