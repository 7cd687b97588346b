// coarser_throughout(): detects a side that computes in a coarser dtype throughout, such as a device. Every result then
// carries its rounding, even if it was widened again, and the tolerance of the coarser dtype applies to all tensors. A
// single operator in a coarser dtype is a finding instead.
#pragma once

#include <optional>

#include "compare/match/pairing.h"
#include "tensor/dtype.h"

namespace msdump {

// The coarsest dtype in which at least a tenth of the pairs of floating tensors are coarser in the candidate than in the
// reference. No value if there is none.
[[nodiscard]] std::optional<DType> coarser_throughout(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing);

}  // namespace msdump
