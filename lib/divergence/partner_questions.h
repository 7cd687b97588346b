// The questions of the reference about the tensors of the candidate.
//
// An operator of the candidate that stands for several of the reference is a region: its outputs are computed by all of them,
// from the tensors that enter it. Which of the candidate's inputs is which is known from the pairing, else from the numbers of
// elements; if several fit, each way is a question.
//
// A convolution with the batch normalisation after it folded into its filter and bias is asked with its own three inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/checked_dump.h"
#include "compare/match/pairing.h"
#include "divergence/region_chain.h"
#include "recompute/question.h"

namespace msdump {

// A convolution of the reference, and the batch normalisation that the candidate folded into it.
struct FoldedConvolution {
  ExecutionId convolution, bias, batch_norm;  // of the reference; bias: kNoId if no BiasAdd stands between
  TensorId x, folded_filter, folded_bias;     // of the candidate
};

class PartnerQuestions {
 public:
  // The objects must outlive it.
  PartnerQuestions(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                   const check::CheckedDump& reference, const recompute::Questions& questions);

  // One question, or several of which the right one is not known. Tensors beyond those of the candidate are constants of the
  // reference: subtract the candidate's number.
  [[nodiscard]] std::vector<recompute::Question> ask(ExecutionId run) const;
  [[nodiscard]] std::optional<FoldedConvolution> folded(ExecutionId run) const;
  // The executions that the candidate's operator stands for, up to this one.
  [[nodiscard]] std::vector<ExecutionId> members(ExecutionId run) const {
    return members_of(run).value_or(Members{run});
  }

  [[nodiscard]] OperatorId op_of(ExecutionId run) const;                              // in Pairing::operators, or kNoId
  [[nodiscard]] TensorId partner(TensorId tensor) const { return partner_[tensor]; }  // the candidate's, or kNoId
  [[nodiscard]] TensorId pair_of(TensorId tensor) const { return pair_of_[tensor]; }  // in Pairing::tensors, or kNoId
  [[nodiscard]] TensorId pair_of_candidate(TensorId tensor) const;

 private:
  using Members = std::vector<ExecutionId>;

  [[nodiscard]] SequencedOpId device_of(ExecutionId run) const;
  [[nodiscard]] std::optional<Members> members_of(ExecutionId run) const;
  [[nodiscard]] std::optional<Members> members_by_type(ExecutionId run, SequencedOpId device) const;
  [[nodiscard]] std::optional<FoldedConvolution> folded(const Members& members) const;
  [[nodiscard]] std::string_view type_of(ExecutionId run) const;
  [[nodiscard]] recompute::Question ask_alone(ExecutionId run) const;
  [[nodiscard]] bool has_more_inputs(ExecutionId run, const recompute::Question& question) const;
  [[nodiscard]] std::vector<recompute::Question> ask_region(const Members& members) const;
  [[nodiscard]] recompute::Question ask_folded(const Members& members, const FoldedConvolution& fold) const;
  // The inputs of the candidate's operator in the execution that wrote this output, by slot.
  [[nodiscard]] std::map<uint32_t, TensorId> device_inputs(TensorId output) const;
  [[nodiscard]] TensorId device_output(ExecutionId run) const;
  [[nodiscard]] TensorId constant(TensorId tensor) const { return TensorId(a_.tensors->size() + tensor); }

  const CompareSide& a_;
  const CompareSide& b_;
  const Pairing& pairing_;
  const check::CheckedDump& reference_;
  const recompute::Questions& questions_;
  std::vector<TensorId> partner_, pair_of_;  // by tensor of the reference
  std::vector<TensorId> any_pair_;           // likewise, also of a tensor without a partner
  std::map<TensorId, TensorId> candidate_pair_;
  std::map<SequencedOpId, std::vector<ExecutionId>> hosts_;  // by operator of the candidate
};

}  // namespace msdump
