// Has one side computed in a coarser dtype throughout, as a device does? Then every result carries its rounding, those
// that are wider again, too, and the tolerance is that of the coarser dtype for all. One operator that turns to a coarser
// dtype is a finding instead.
#pragma once

#include <optional>

#include "compare/match/pairing.h"
#include "tensor/dtype.h"

namespace msdump {

// The coarsest dtype that at least a tenth of the pairs of floating tensors have on the candidate's side where the
// reference has a finer one; none when there are fewer.
[[nodiscard]] std::optional<DType> coarser_throughout(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing);

}  // namespace msdump
