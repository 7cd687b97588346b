// Operators whose arguments differ are roots: nothing that goes into them is to blame.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/arguments/argument_diff.h"
#include "divergence/divergence.h"

namespace msdump {

// `arguments` differ. An operator that is a root already gets the reason; another one becomes a root in its place in the
// order of operators, unless there is a root of the same line, or one with the same difference: other calls and gradients
// have what it has. `rows` are in Pairing::tensors.
void add_argument_roots(const std::vector<ArgumentDiff>& arguments, const CompareSide& a, const CompareSide& b,
                        const Pairing& pairing, const std::vector<TensorDiff>& diffs, const std::vector<uint32_t>& rows,
                        std::vector<Divergence>& roots);

}  // namespace msdump
