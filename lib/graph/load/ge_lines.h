// Lines for the operators of GE: from the IR of MindSpore, whose full names GE keeps.
//
//   dump file -> operator of GE -> its original names (or its own) -> operator of that name in the IR -> its stack
// An operator with one original has its stack. One with several has the stacks of all, as those of fused operators.
#pragma once

#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// Of the same rank, where both know theirs. An IR that names most operators of the graph of GE which MindSpore named is the
// same net before GE changed it: its lines are taken, and it is no graph of its own any more.
void give_lines_to_ge(std::vector<Origin>& origins);

}  // namespace msdump
