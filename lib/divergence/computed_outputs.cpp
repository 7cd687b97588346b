#include "divergence/computed_outputs.h"

#include <algorithm>
#include <memory>
#include <set>

#include "check/checked_dump.h"

namespace msdump {
namespace {

using recompute::Judgement;
using recompute::Maybe;
using recompute::Operand;
using recompute::OperatorJudgement;
using recompute::OutputJudgement;
using recompute::Question;
using recompute::Reason;
using recompute::Tensor;

// One side with the executions of its operators.
struct Side {
  explicit Side(const CompareSide& side, int64_t most_elements)
      : dump(side),
        questions(side, dump.run_graph(), dump.operators()),
        reader(side, dump.operators(), most_elements) {}

  check::CheckedDump dump;
  recompute::Questions questions;
  recompute::TensorReader reader;
};

class OutputComputer {
 public:
  OutputComputer(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs, const RunContext& context)
      : a_(a),
        b_(b),
        pairing_(pairing),
        diffs_(diffs),
        context_(context),
        partner_(b.tensors->size()),
        pair_of_(b.tensors->size()),
        reference_(b, options_.most_elements),
        reader_(a, a.operators != nullptr ? *a.operators : operators_of(a), options_.most_elements) {
    for (TensorId pair{0}; pair < pairing.tensors.size(); ++pair) {
      const TensorPair& tensors = pairing.tensors[pair];
      if (!tensors.is_paired()) continue;
      partner_[tensors.b] = TensorId(uint32_t{tensors.a});
      pair_of_[tensors.b] = pair;
    }
    for (const OpPair& pair : pairing.operators) {
      if (pair.is_paired()) ++partners_of_[pair.a];
    }
  }

  Result<ComputedOutputs> run(bool always) {
    ComputedOutputs outputs;
    const std::vector<ExecutionId> runs = runs_that_differ();
    if (runs.empty()) return outputs;
    const uint64_t bytes = recompute::bytes_of(b_, reference_.dump.run_graph(), runs);
    if (!always && bytes > recompute::kCheapBytes) {
      outputs.too_much = bytes;
      return outputs;
    }
    MSDUMP_TRY(const auto judgements, judge_partners(runs));
    outputs.counts = recompute::count(judgements);
    outputs.states.resize(pairing_.tensors.size());
    std::vector<ExecutionId> wrong;
    for (const OperatorJudgement& judgement : judgements) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_right()) continue;
        const TensorId pair = pair_of_candidate(output.tensor);
        outputs.states[pair] = ComputedState::kRight;
        outputs.right.emplace(pair, ComputedOutput{output, {}});
      }
      if (judgement.is_wrong()) wrong.push_back(judgement.run);
    }
    if (wrong.empty()) return outputs;
    MSDUMP_TRY(const std::set<ExecutionId> trusted, right_in_reference(wrong));
    MSDUMP_TRY(const std::set<TensorId> asked_otherwise, right_in_candidate(judgements));
    for (const OperatorJudgement& judgement : judgements) {
      if (!judgement.is_wrong() || trusted.count(judgement.run) == 0) continue;
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_wrong()) continue;
        if (asked_otherwise.count(output.tensor) > 0) continue;
        const TensorId pair = pair_of_candidate(output.tensor);
        outputs.states[pair] = ComputedState::kWrong;
        outputs.wrong.emplace(pair, ComputedOutput{output, judgement.asked});
      }
    }
    return outputs;
  }

 private:
  [[nodiscard]] std::vector<ExecutionId> runs_that_differ() {
    std::vector<ExecutionId> runs;
    const auto differs = [&](TensorId tensor) {
      const TensorId pair = pair_of_[tensor];
      return pair != kNoId && diffs_[pair].verdict != Verdict::kSame && diffs_[pair].verdict != Verdict::kSkipped &&
             (*a_.tensors)[partner_[tensor]].has_elements && !is_fused(pair);
    };
    const std::vector<OpRun>& all = reference_.dump.runs();
    for (ExecutionId run{0}; run < all.size(); ++run) {
      if (std::any_of(all[run].outputs.begin(), all[run].outputs.end(), differs)) runs.push_back(run);
    }
    for (TensorId tensor{0}; tensor < partner_.size(); ++tensor) {
      if (partner_[tensor] != kNoId) candidate_pair_[partner_[tensor]] = pair_of_[tensor];
    }
    return runs;
  }

  // True if the candidate's operator stands for several of the reference: its output is that of the last one.
  [[nodiscard]] bool is_fused(TensorId pair) const {
    const auto found = partners_of_.find(pairing_.operators[pairing_.tensors[pair].op].a);
    return found != partners_of_.end() && found->second > 1;
  }

  [[nodiscard]] bool is_constant(ExecutionId run, TensorId tensor) const {
    const std::vector<RunInput>& inputs = reference_.dump.runs()[run].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.tensor == tensor && input.from == InputEdge::From::kConstant;
    });
  }

  // The operator of the candidate that a tensor of the reference was paired with.
  [[nodiscard]] SequencedOpId candidate_of(TensorId tensor) const {
    const TensorId pair = pair_of_[tensor];
    return pair == kNoId ? SequencedOpId() : pairing_.operators[pairing_.tensors[pair].op].a;
  }

  [[nodiscard]] TensorId pair_of_candidate(TensorId tensor) const {
    const auto found = candidate_pair_.find(tensor);
    return found == candidate_pair_.end() ? TensorId() : found->second;
  }

  // The question of the reference about tensors of the candidate. Constants that only the reference has as files stay its own.
  [[nodiscard]] Question ask(ExecutionId run) const {
    Question question = reference_.questions.ask(run);
    if (question.row == nullptr) return question;
    std::vector<Operand> operands;
    const SequencedOpId asked =
        question.outputs.empty() ? SequencedOpId() : candidate_of(question.outputs.front().tensor);
    for (Operand& operand : question.operands) {
      // Operators of the device that are one of the network have a part of the inputs each.
      if (operand.tensor != kNoId && (*b_.tensors)[operand.tensor].name.io == Io::kInput &&
          partner_[operand.tensor] != kNoId && candidate_of(operand.tensor) != asked) {
        question.unknown.emplace_back(operand.name, recompute::Unjudged{Reason::kRegion, operand.name});
        continue;
      }
      if (operand.tensor != kNoId) {
        const TensorId partner = partner_[operand.tensor];
        if (partner != kNoId) {
          operand.tensor = partner;
        } else if (is_constant(run, operand.tensor)) {
          operand.tensor = TensorId(a_.tensors->size() + operand.tensor);
        } else {
          question.unknown.emplace_back(operand.name, recompute::Unjudged{Reason::kNoInput, operand.name});
          continue;
        }
      }
      operands.push_back(std::move(operand));
    }
    question.operands = std::move(operands);
    for (recompute::AskedOutput& output : question.outputs) output.tensor = partner_[output.tensor];
    std::erase_if(question.outputs, [](const recompute::AskedOutput& output) { return output.tensor == kNoId; });
    return question;
  }

  [[nodiscard]] Maybe<Tensor> read(TensorId tensor, const Shape* shape) const {
    if (tensor < a_.tensors->size()) return reader_.read(tensor, shape);
    return reference_.reader.read(TensorId(tensor - a_.tensors->size()), shape);
  }

  [[nodiscard]] Result<std::vector<OperatorJudgement>> judge_partners(const std::vector<ExecutionId>& runs) const {
    return recompute::judge_questions(
        runs.size(), [&](size_t i) { return ask(runs[i]); },
        [&](TensorId tensor, const Shape* shape) { return read(tensor, shape); }, options_, context_);
  }

  // Only the candidate's mistakes are looked for.
  [[nodiscard]] static recompute::RecomputeOptions unexplained() {
    recompute::RecomputeOptions options;
    options.most_explained = 0;
    return options;
  }

  // Executions that are right in the reference: there the question and the kernel are as they should be.
  [[nodiscard]] Result<std::set<ExecutionId>> right_in_reference(const std::vector<ExecutionId>& runs) const {
    MSDUMP_TRY(const auto judgements,
               recompute::judge_questions(
                   runs.size(), [&](size_t i) { return reference_.questions.ask(runs[i]); },
                   [&](TensorId tensor, const Shape* shape) { return reference_.reader.read(tensor, shape); },
                   unexplained(), context_));
    std::set<ExecutionId> right;
    for (const OperatorJudgement& judgement : judgements) {
      if (judgement.is_right()) right.insert(judgement.run);
    }
    return right;
  }

  // Wrong outputs that are right by the candidate's own graph or call: it was asked something else.
  [[nodiscard]] Result<std::set<TensorId>> right_in_candidate(const std::vector<OperatorJudgement>& judgements) const {
    const Side candidate(a_, options_.most_elements);
    std::set<ExecutionId> runs;
    for (const OperatorJudgement& judgement : judgements) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_wrong()) continue;
        if (const ExecutionId run = candidate.dump.run_of(output.tensor); run != kNoId) runs.insert(run);
      }
    }
    MSDUMP_TRY(const auto own, recompute::recompute(a_, candidate.dump.run_graph(), candidate.dump.operators(),
                                                    {runs.begin(), runs.end()}, context_, unexplained()));
    std::set<TensorId> right;
    for (const OperatorJudgement& judgement : own) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (output.judgement.is_right()) right.insert(output.tensor);
      }
    }
    return right;
  }

  const CompareSide& a_;
  const CompareSide& b_;
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const RunContext& context_;
  const recompute::RecomputeOptions options_;
  std::vector<TensorId> partner_;  // by tensor of the reference: the candidate's
  std::vector<TensorId> pair_of_;  // by tensor of the reference: in Pairing::tensors
  std::map<TensorId, TensorId> candidate_pair_;
  std::map<uint32_t, size_t> partners_of_;  // by operator of the candidate: those of the reference
  const Side reference_;
  const recompute::TensorReader reader_;  // of the candidate
};

}  // namespace

Result<ComputedOutputs> compute_outputs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                        const std::vector<TensorDiff>& diffs, bool always, const RunContext& context) {
  const auto has_elements = [](const TensorRecord& record) { return record.has_elements; };
  const bool any = std::any_of(a.tensors->begin(), a.tensors->end(), has_elements) &&
                   std::any_of(b.tensors->begin(), b.tensors->end(), has_elements);
  if (!any || pairing.other_framework) return ComputedOutputs();
  return OutputComputer(a, b, pairing, diffs, context).run(always);
}

}  // namespace msdump
