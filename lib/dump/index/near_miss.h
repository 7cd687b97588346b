// What a selection that matches nothing probably meant: the nearest existing name, or the existing numbers.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/selection.h"

namespace msdump {

// "did you mean --op-type Conv2D?", "there are steps 0-4"; empty when nothing is near.
[[nodiscard]] std::string near_miss(const DumpIndex& index, const SelectionOptions& options);

}  // namespace msdump
