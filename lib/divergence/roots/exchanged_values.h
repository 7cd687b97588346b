// Roots whose values were exchanged: operands, parameters.
#pragma once

#include "divergence/dump_diff.h"

namespace msdump {

// Says so in their reasons.
void note_exchanges(DiffResult& run);

}  // namespace msdump
