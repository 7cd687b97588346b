// The calls that may be to blame in the place of a root where runs are cut differently: each way of cutting has calls of its
// own, with which nothing can be compared. Between the last values that agree and the first that does not lies a chain of
// them.
#pragma once

#include <vector>

#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets Divergence::chain of roots that one side alone has, and of those that read what nothing is known of: the calls of the
// candidate alone that made what they read, the nearest first. Where an edge is not known, those right before.
void find_chains(const RunView& view, std::vector<Divergence>& roots);

}  // namespace msdump
