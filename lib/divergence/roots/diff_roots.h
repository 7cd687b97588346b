// Steps that complete the roots of find_divergences(): arguments that differ, a line that one side alone has, collectives that do not
// give what was sent, and the ranks that diverged.
#pragma once

#include "divergence/dump_diff.h"
#include "io/run_context.h"

namespace msdump {

// Arguments of calls that differ, and their operators as roots: nothing that goes into them is to blame.

// Fills DiffResult::arguments: a tensor without a partner that the other side has in its graph, and what only graphs have.
void judge_arguments(DiffResult& run, const DiffRules& rules, const RunContext& context);

// Roots whose values were exchanged: operands, parameters.

// Says so in their reasons.
void note_exchanges(DiffResult& run);

// The root where no operator stands out: the line of the script with most calls that only one side has.

// Adds it to the roots where there are none, unless a graph shows the data flow: a graph says better what lies between two
// values, and releases of a framework have other kernels.
void blame_one_sided_line(DiffResult& run);

// On which ranks of a run that is cut differently a root lies: each rank's part compared with what it stands for in the
// reference.

// Of roots whose ranks are not known, by the first tensor of their evidence that differs and has a known layout. Ranks of
// the candidate, ascending; empty where that cannot be told.
void find_ranks(DiffResult& run, const CancelToken& cancel);

}  // namespace msdump
