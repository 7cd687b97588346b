// Instances of one fault: the same class in every block, every time step and every rank.
#pragma once

#include <vector>

#include "divergence/root_list.h"

namespace msdump {

// Joins a root with the first before it that is of the same operator, or of the same line of the script, op type and
// kind, in the same outputs: it becomes one of its places. `roots` are in the order of reports. Values that enter the
// graph stay apart.
void join_places(const RunView& view, std::vector<Root>& roots);

}  // namespace msdump
