// The outputs of the candidate, computed again: by what the reference asks, from what the candidate's operators read.
//
// An output that the reference's operator leads to, with the candidate's own inputs, is right: the difference came with the
// inputs, and the operator is acquitted. One that it does not lead to is wrong, unless it is right by the candidate's own graph or
// call: then it was asked something else, which is not judged here. Nothing is said of an operator of the reference that is wrong
// by its own inputs, nor without tensors of every input. Fused operators are judged as the operators of the reference that they
// stand for (partner_questions.h).
//
// The filter and bias into which a batch normalisation was folded are no parameters: they are compared with what the reference's
// parameters lead to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "io/run_context.h"
#include "recompute/outliers.h"
#include "recompute/recompute.h"

namespace msdump {

enum class ComputedState : uint8_t { kUnknown, kRight, kWrong };

struct ComputedOutput {
  recompute::OutputJudgement output;            // of the candidate's tensor
  std::vector<recompute::AskedArgument> asked;  // if it is wrong
};

struct ComputedOutputs {
  std::vector<ComputedState> states;                // by Pairing::tensors; empty: nothing was computed
  std::map<TensorId, ComputedOutput> wrong;         // of kWrong
  std::map<TensorId, ComputedOutput> right;         // of kRight
  std::map<TensorId, recompute::Outlier> outliers;  // of kRight
  // Outputs of convolutions with a filter or bias that folding the reference's parameters does not lead to: the judgement of it.
  std::map<TensorId, ComputedOutput> misfolded;
  std::set<TensorId> folded;           // inputs that were folded, right or wrong; by Pairing::tensors
  std::set<OperatorId> fused;          // of the reference: in an operator of the candidate that is another's partner
  recompute::RecomputeCounts counts;   // of the executions with an output that differs
  std::set<OperatorId> without_input;  // of the reference: not judged, because an input was not dumped
  uint64_t too_much = 0;               // bytes of tensors that it would have read; 0: it was done

  // Null: it was not computed again.
  [[nodiscard]] const ComputedOutput* find(TensorId tensor) const {
    for (const auto* const all : {&wrong, &right}) {
      if (const auto found = all->find(tensor); found != all->end()) return &found->second;
    }
    return nullptr;
  }
  [[nodiscard]] ComputedState state(TensorId tensor) const {
    return tensor < states.size() ? states[tensor] : ComputedState::kUnknown;
  }
};

// Judges the executions of the reference with an output that differs. An error only if it is interrupted.
[[nodiscard]] Result<ComputedOutputs> compute_outputs(const CompareSide& a, const CompareSide& b,
                                                      const Pairing& pairing, const std::vector<TensorDiff>& diffs,
                                                      recompute::Extent extent, const RunContext& context);

}  // namespace msdump
