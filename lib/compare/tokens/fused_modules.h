// fused_modules(): projections that one side computes as one, by the names of modules and the extents of their outputs.
//
//   qkv_proj      = concat(q_proj, k_proj, v_proj)
//   gate_up_proj  = concat(gate_proj, up_proj)
// The name of the fused module is made of the names of the parts, which lie in the same module of the other side; the last axis
// of its output is as long as those of the parts together.
#pragma once

#include <vector>

#include "compare/match/pairing.h"
#include "compare/tokens/token_side.h"

namespace msdump {

// The fused modules of `side`, in the order of its operators: each computes what several modules of `other` do. Adds one relation
// for modules whose names differ only in numbers.
[[nodiscard]] std::vector<TokenSide::Fused> fused_modules(const TokenSide& side, const TokenSide& other,
                                                          std::vector<FoundRelation>& relations);

}  // namespace msdump
