// Did one side compute in a coarser dtype throughout, as a device does? Then every result carries its rounding, even
// where it was widened again, and the tolerance of the coarser dtype applies to all tensors. A single operator that
// turns to a coarser dtype is a finding instead.
#pragma once

#include <optional>

#include "compare/match/pairing.h"
#include "tensor/dtype.h"

namespace msdump {

// The coarsest dtype that the candidate has, and the reference has not, in at least a tenth of the pairs of floating
// tensors; nothing when there are fewer such pairs.
[[nodiscard]] std::optional<DType> coarser_throughout(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing);

}  // namespace msdump
