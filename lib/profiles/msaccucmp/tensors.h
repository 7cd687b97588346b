// Any two dumps in msaccucmp's form, at least one of which holds arrays. The tool itself compares dump files with
// arrays of the original network through a fusion rule file, and rejects the rest. Here operators and tensors are
// paired by pairing.h, and rows are those that the tool writes for 1:1 operators:
//
//   operators     those of the candidate in their order, then those that only the reference has
//   NPUDump       the candidate's name; GroundTruth: the reference's
//   Shape, scalar those of the candidate in host format; arrays with equally many elements are compared
//   DataType      numpy's, after widening: bfloat16 is float32. Two bool tensors stay bool
//   no partner    a tensor of the candidate has a row of NaN; an operator that only the reference has, one
#pragma once

#include <vector>

#include "compare/match/pairing.h"
#include "profiles/msaccucmp/row.h"

namespace msdump {

struct MsaccucmpTensorPairs {
  Pairing pairing;
  std::vector<std::vector<uint32_t>> operators;  // in Pairing::tensors, by operator in the order of rows
};

[[nodiscard]] MsaccucmpTensorPairs pair_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b);

// An error only when interrupted.
Result<MsaccucmpOpRows> compare_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                        const MsaccucmpTensorPairs& pairs, const std::vector<uint32_t>& tensors,
                                        const CancelToken& cancel);

}  // namespace msdump
