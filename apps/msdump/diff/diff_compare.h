// Compares what compute_diff has paired and selected, on all threads: tables are read first, one beside the other, then rows are
// compared in pieces. `diffs`, `extras` and `failures` of the run do not depend on the number of threads.
#pragma once

#include "diff/diff_result.h"

namespace msdump::cli {

// Ends early, with rows left as they were, when the session is cancelled.
void compare_all(const RunContext& context, const DiffOptions& options, const DiffRules& rules, DiffResult& run);

}  // namespace msdump::cli
