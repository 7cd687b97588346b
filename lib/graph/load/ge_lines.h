// Lines for the operators of GE: from the IR of MindSpore, whose full names GE keeps.
//
//   dump file -> operator of GE -> its original names (or its own) -> operator of that name in the IR -> its stack
// An operator with one original has its stack. One with several, a fused operator, has the stacks of all.
#pragma once

#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// IR and graph are of the same rank, where both know theirs. An IR that has most of the names that MindSpore gave to the
// operators of a GE graph is the same net before GE changed it: the graph takes its lines, and the IR is dropped.
void give_lines_to_ge(std::vector<Origin>& origins);

}  // namespace msdump
