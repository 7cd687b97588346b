// Classifies tensors with NaN or infinite elements. NaN and +inf are faults. -inf is accepted as an attention mask if any of
// these holds, and so is the lowest finite value of a dtype (-65504, -3.4e38):
//
//   1. an input of the operator already has -inf (for a sum: at least as many);
//   2. the operator copies or fills values (select, fill, where, concat), or casts a mask constant such as -1e9;
//   3. the tensor is a parameter with at most one other value;
//   4. the inputs were not dumped, and the operator cannot produce infinities (it is not log, div or pow).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "check/checked_dump.h"
#include "check/values/tensor_facts.h"

namespace msdump::check {

// kUndecided: the values are not known.
enum class NonFinite : uint8_t { kUndecided, kFinite, kMask, kFault };

class NonFiniteClassifier {
 public:
  NonFiniteClassifier(const CheckedDump& dump, const FactsReader& facts) : dump_(dump), facts_(facts) {}

  // If needs_inputs() holds for an output, the inputs of its execution must have been read.
  [[nodiscard]] NonFinite classify(TensorId tensor) const;
  // Classifies a result of an execution. If it was not dumped, the tensor is the input of a consumer.
  [[nodiscard]] NonFinite classify_output(TensorId tensor, ExecutionId run) const;
  [[nodiscard]] bool needs_inputs(TensorId tensor) const;
  // True for an infinity of a constant or parameter (the start of a running minimum) that every operator which read it
  // turned into finite values. Their outputs must have been read.
  [[nodiscard]] bool is_absorbed(TensorId tensor) const;
  // True if the output of a sum has more -inf than all of its inputs account for, which are all known.
  [[nodiscard]] bool adds_infinities(TensorId tensor, ExecutionId run) const;
  // The dumped tensors that hold the inputs' values.
  [[nodiscard]] std::vector<TensorId> inputs_of(ExecutionId run) const;

 private:
  [[nodiscard]] bool has_finite_outputs(ExecutionId run) const;
  [[nodiscard]] NonFinite classify_negative_infinity(TensorId tensor, ExecutionId run) const;
  [[nodiscard]] std::string_view type_of(ExecutionId run) const { return dump_.operators()[dump_.runs()[run].op].type; }

  const CheckedDump& dump_;
  const FactsReader& facts_;
};

// True if the tensor has at most one finite value beside its infinities.
[[nodiscard]] bool is_two_valued(const TensorFacts& facts);

}  // namespace msdump::check
