// What a pair of parameters that differ has in common nevertheless, in words after the reason:
//
//   rows appended        the verdict stays `shape`; how the common rows compare, and what the further ones hold
//   another order        a square matrix that is transposed, rows that are regrouped (match/parameters/parameter_views.h):
//                        the verdict stays `differ`, because nothing says that it is meant so
#pragma once

#include "base/error.h"
#include "compare/pair/tensor_diff.h"
#include "compare/statistics/record_diff.h"

namespace msdump {

// An error when one of the tensors cannot be read.
Status explain_parameters(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                          const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                          TensorDiff& diff);

}  // namespace msdump
