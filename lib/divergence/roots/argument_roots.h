// Arguments of calls that differ, and their operators as roots: nothing that goes into them is to blame.
#pragma once

#include "divergence/dump_diff.h"
#include "io/run_context.h"

namespace msdump {

// Fills DiffResult::arguments: a tensor without a partner that the other side has in its graph, and what only graphs have.
void judge_arguments(DiffResult& run, const DiffRules& rules, const RunContext& context);

}  // namespace msdump
