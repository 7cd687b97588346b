// Compares the arguments of calls that are not tensors, as msprobe records them. They come from the script, so rounding does
// not explain a difference.
//
//   1. calls      those of paired operators; in the same step, or the only step of each side
//   2. arguments  positions of calls of one type, and keywords of any two calls. Between PyTorch and MindSpore only those of
//                 one meaning: some keywords, and positions of Python's operators and of mint
//   3. equal      the same text; floats within a relative 1e-6; None and an argument that is not given
//   4. verdict    kClose    floats within the user's tolerance, by default a relative 1e-3: a factor that is computed
//                           from data (a clipped norm) has noise. Two floating dtypes, too: tensors show the precision
//                 kSkipped  one side does not give the argument: its default may be the same
//                 kDiffer   else
//
// Equal arguments are not listed.
#pragma once

#include <optional>
#include <vector>

#include "compare/arguments/argument_diff.h"
#include "compare/match/pairing.h"
#include "compare/pair/tolerance.h"
#include "dump/layouts/family.h"

namespace msdump {

// Ordered by Pairing::operators, then by step, then as the reference lists the arguments.
[[nodiscard]] std::vector<ArgumentDiff> compare_calls(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing, const Tolerance& tolerance);

// No value for equal arguments, or if one is a process group.
[[nodiscard]] std::optional<Verdict> compare_call_values(const CallValue& a, const CallValue& b,
                                                         const Tolerance& tolerance);

}  // namespace msdump
