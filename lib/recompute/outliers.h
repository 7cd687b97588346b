// Outputs that are right within the limit of their kernel, and yet far less exact than those of similar operators of the dump.
//
// The limit of a kernel (judge.h) is what a right implementation of it may be off by on any device, and most outputs are several times
// more exact. How exact those of one device are shows in its dump: the error of an output from its own inputs, over what rounding
// leads to, is much the same for all operators of a type, whatever their inputs are off by.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "recompute/recompute.h"

namespace msdump::recompute {

struct Outlier {
  double error = 0;      // over what rounding leads to in float32
  double times = 0;      // so many times the largest of the similar operators, in the precision that suits it best
  uint32_t similar = 0;  // how many they are
  bool of_type = true;   // they have its type; else they only round their outputs to the same format
  // If this is set, the output is rounded to it, unlike its operands and the outputs of similar operators, and the above is of those.
  DType format = DType::kUndefined;
};

using OperatorOf = std::function<OperatorId(ExecutionId)>;

// By tensor of the output. `op_of` names the operator of an execution: it is not similar to itself in another step.
[[nodiscard]] std::map<TensorId, Outlier> find_outliers(const std::vector<OperatorJudgement>& judgements,
                                                        const OperatorOf& op_of);

// True if the same operator of another dump is off by as much, so that its inputs are what sets it apart.
[[nodiscard]] bool shares(const Outlier& outlier, const Judgement& other);

}  // namespace msdump::recompute
