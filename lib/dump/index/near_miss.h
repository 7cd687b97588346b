// What a selection that matches nothing was probably meant to say: the nearest name there is, or the numbers there are.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/selection.h"

namespace msdump {

// "did you mean --op-type Conv2D?", "there are steps 0-4"; empty when nothing is near.
[[nodiscard]] std::string near_miss(const DumpIndex& index, const SelectionOptions& options);

}  // namespace msdump
