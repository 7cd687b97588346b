// Chains: further calls that may be to blame if the sides are sharded differently. Each way of sharding has its own calls, which
// cannot be compared. A chain of them lies between the last values that agree and the first that does not.
#pragma once

#include <vector>

#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets Divergence::chain, the nearest first, to these calls of the candidate alone:
//   * producers of a root's inputs, if only one side has the root or the source of the inputs is unknown; the calls right
//     before, if no edge is known; the calls after a producer that both sides have
//   * the last calls of a module that is a root although nothing inside it is
//   * calls between a root and the execution whose input shows its output, and the producers of uncompared inputs
void find_chains(const RunView& view, std::vector<Divergence>& roots);

}  // namespace msdump
