// The arguments of calls that are not tensors, as msprobe records them: those that have another value in the other dump.
// They are what the script says, and no consequence of rounding.
//
//   1. whose        of paired operators; in the same step, or the only one of each side
//   2. which        arguments in one slot, of calls of one type; keywords of any two calls. Between PyTorch and
//                   MindSpore only those with one meaning: some keywords, and places in Python's operators and in mint
//   3. equal        the same text; numbers within a relative 1e-6; None and an argument that is not given
//   4. verdict      kClose    numbers within the user's tolerance, by default a relative 1e-3: a factor out of data
//                             (a clipped norm) has noise. Floating dtypes, too: precision is judged by the tensors
//                   kSkipped  one side does not give the argument: its default may be the same
//                   kDiffer   else
// Equal ones are not listed.
#pragma once

#include <optional>
#include <vector>

#include "compare/arguments/argument_diff.h"
#include "compare/match/pairing.h"
#include "compare/pair/tolerance.h"
#include "dump/layouts/family.h"

namespace msdump {

// In the order of Pairing::operators, then of step, then as the reference has them.
[[nodiscard]] std::vector<ArgumentDiff> compare_calls(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing, const Tolerance& tolerance);

// Nothing for equal values.
[[nodiscard]] std::optional<Verdict> compare_call_values(const CallValue& a, const CallValue& b,
                                                         const Tolerance& tolerance);

}  // namespace msdump
