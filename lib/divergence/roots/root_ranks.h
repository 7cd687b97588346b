// On which ranks of a run that is cut differently a root lies: each rank's part compared with what it stands for in the
// reference.
#pragma once

#include "divergence/dump_diff.h"
#include "io/cancel.h"

namespace msdump {

// Of roots whose ranks are not known, by the first tensor of their evidence that differs and has a known layout. Ranks of
// the candidate, ascending; empty where that cannot be told.
void find_ranks(DiffResult& run, const CancelToken& cancel);

}  // namespace msdump
