// On which ranks of a run that is cut differently a tensor is off: each rank's part compared with what it stands for in
// the reference.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/cut/cut_pairing.h"
#include "io/cancel.h"

namespace msdump {

// Ranks of the candidate, ascending: those whose part has more than a tenth of the error of the worst. Empty where that
// cannot be told: of the terms of a sum, of a reference that is cut itself, of parts that cannot be read.
[[nodiscard]] std::vector<int64_t> ranks_that_differ(const CutSide& a, const CutSide& b, const TensorPair& pair,
                                                     const CutNote& note, const CancelToken& cancel);

}  // namespace msdump
