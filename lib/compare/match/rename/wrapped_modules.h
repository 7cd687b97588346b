// Wrappers of a whole network keep it in their member `module` (PyTorch's DistributedDataParallel), so msprobe writes
// Module.module.blocks.0.. for what is Module.blocks.0.. without one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

// How many wrappers the modules of a dump are in; 0 if one of them is not in any, or there are no modules.
[[nodiscard]] size_t wrappers_of(const std::vector<SequencedOp>& operators);

// The name of a module without its outermost wrappers; any other name as it is.
[[nodiscard]] std::string without_wrappers(std::string_view name, size_t wrappers);

}  // namespace msdump
