// Operators that were not dumped, and one of which is to blame: those between the last values that agree and the first that
// does not. A `kernels` filter leaves such gaps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets Divergence::candidates where an IR has the data flow. A value that another operator read, and whose file agrees,
// acquits what made it; one that differs convicts what comes before it.
void find_candidates(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const RunView& view,
                     std::vector<Divergence>& roots);

// As the `kernels` of a data_dump.json name an operator: as files would, with '/'.
[[nodiscard]] std::string kernel_name(const CompareSide& side, const SequencedOp& op);

}  // namespace msdump
