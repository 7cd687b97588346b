// Partners by values: where the tensors of two operators that are paired by their place do not fit, or an operator has no
// partner, another one of its kind nearby whose tensors all do. Cost: a bounded number of trials for an operator and for a
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/cut/cut_match.h"

namespace msdump {

// By operator of the candidate: that of the reference, or kNoOperator. An error when interrupted.
Result<std::vector<uint32_t>> partners_by_values(CutMatch& match);

}  // namespace msdump
