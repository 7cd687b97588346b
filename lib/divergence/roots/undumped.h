// find_candidates(): operators that were not dumped, and one of which is to blame. They lie between the last values that
// agree and the first that does not. A `kernels` filter leaves such gaps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets Divergence::candidates if an IR has the data flow. A value that agrees at another consumer acquits its producer.
// One that differs there convicts its producer, or an operator before it.
void find_candidates(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const RunView& view,
                     std::vector<Divergence>& roots);

// The name of an operator for the `kernels` of a data_dump.json: that of its files, with '/'.
[[nodiscard]] std::string kernel_name(const CompareSide& side, const SequencedOp& op);

}  // namespace msdump
