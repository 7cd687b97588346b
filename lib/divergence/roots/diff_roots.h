// Completes the roots of find_divergences(): arguments, exchanged values, lines of one side, and ranks that diverged.
#pragma once

#include "divergence/dump_diff.h"
#include "io/run_context.h"

namespace msdump {

// Compares the arguments of calls, and adds their operators as roots: none of their inputs is to blame. Fills
// DiffResult::arguments. A tensor without a partner that the other side has in its graph gets its verdict in
// DiffResult::diffs instead.
void judge_arguments(DiffResult& run, std::vector<ArgumentDiff> of_calls, const RunContext& context);

// Says in the reason of a root that its operands or parameters were exchanged.
void note_exchanges(DiffResult& run);

// Says in the reason of a value that was not handed on how many elements changed, if both files have elements.
void note_changes(DiffResult& run, const CancelToken& cancel);

// If there is no root, adds the place where a gradient was cut, else the first line of the script with calls that only one side has,
// before a difference that nothing explains. A line behind most of whose calls values agree is a rewriting, unless one of them casts to
// a coarser format. Not if a graph has the data flow: it shows better what lies between two values, and releases of a framework have
// other kernels.
void blame_one_sided_line(DiffResult& run);

// Sets the ranks of roots that have none, if the sides are sharded differently: the candidate's, ascending. For the first
// tensor of the evidence that differs and has a known placement, each local tensor is compared with its part of the
// reference. Leaves them empty if that is not possible.
void find_ranks(DiffResult& run, const CancelToken& cancel);

}  // namespace msdump
