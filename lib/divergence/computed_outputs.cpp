#include "divergence/computed_outputs.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "check/checked_dump.h"
#include "divergence/partner_questions.h"
#include "recompute/region.h"

namespace msdump {
namespace {

using recompute::Array;
using recompute::Judgement;
using recompute::Maybe;
using recompute::OperatorJudgement;
using recompute::OutputJudgement;
using recompute::Question;
using recompute::Tensor;

// One side with the executions of its operators.
struct RecomputedSide {
  explicit RecomputedSide(const CompareSide& side, int64_t most_elements)
      : dump(side),
        questions(side, dump.run_graph(), dump.operators(), recompute::Assumed::kState),
        reader(side, dump.operators(), most_elements) {}

  check::CheckedDump dump;
  recompute::Questions questions;
  recompute::TensorReader reader;
};

// True if `one` says more of an operator that is asked in several ways: the right one, else the one that is least wrong.
bool is_better(const OperatorJudgement& one, const OperatorJudgement& other) {
  if (one.is_right() != other.is_right()) return one.is_right();
  if (one.is_wrong() != other.is_wrong()) return !one.is_wrong();
  return one.is_wrong() &&
         one.outputs.front().judgement.relative_error < other.outputs.front().judgement.relative_error;
}

class OutputComputer {
 public:
  OutputComputer(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs, recompute::Extent extent, const RunContext& context)
      : a_(a),
        b_(b),
        pairing_(pairing),
        diffs_(diffs),
        context_(context),
        extent_(extent),
        options_(recompute::options_of(extent)),
        reference_(b, options_.most_elements),
        partners_(a, b, pairing, reference_.dump, reference_.questions),
        reader_(a, a.operators != nullptr ? *a.operators : operators_of(a), options_.most_elements) {}

  Result<ComputedOutputs> run() {
    ComputedOutputs outputs;
    const std::vector<ExecutionId> runs = runs_that_differ();
    const uint64_t bytes = recompute::bytes_of(b_, reference_.dump.run_graph(), runs);
    if (extent_ == recompute::Extent::kIfCheap && bytes > recompute::kCheapBytes) {
      outputs.too_much = bytes;
      return outputs;
    }
    judge_folds(outputs);
    if (runs.empty()) return outputs;
    MSDUMP_TRY(auto judgements, judge_partners(runs));
    outputs.states.resize(pairing_.tensors.size());
    const auto outliers = recompute::find_outliers(judgements, [&](ExecutionId run) { return partners_.op_of(run); });
    const auto is_outlier = [&](const OutputJudgement& output) { return outliers.count(output.tensor) > 0; };
    std::vector<ExecutionId> suspects;
    for (const OperatorJudgement& judgement : judgements) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_right()) continue;
        const TensorId pair = partners_.pair_of_candidate(output.tensor);
        outputs.states[pair] = ComputedState::kRight;
        outputs.right.emplace(pair, ComputedOutput{output, {}});
      }
      if (judgement.is_wrong() || std::any_of(judgement.outputs.begin(), judgement.outputs.end(), is_outlier))
        suspects.push_back(judgement.run);
      if (judgement.outputs.empty() && judgement.why.reason == recompute::Reason::kNoInput)
        outputs.without_input.insert(partners_.op_of(judgement.run));
      if (judgement.outputs.empty()) continue;
      for (const ExecutionId member : partners_.members(judgement.run)) {
        if (member != judgement.run) outputs.fused.insert(partners_.op_of(member));
      }
    }
    MSDUMP_TRY(const Trusted trusted, right_in_reference(suspects));
    for (OperatorJudgement& judgement : judgements) forget_state(judgement, trusted);
    outputs.counts = recompute::count(judgements);
    for (const auto& [tensor, outlier] : outliers) {
      const Judgement* const reference = partner_in(trusted, tensor);
      if (reference != nullptr && !shares(outlier, *reference))
        outputs.outliers.emplace(partners_.pair_of_candidate(tensor), outlier);
    }
    const auto is_wrong = [](const OperatorJudgement& judgement) { return judgement.is_wrong(); };
    if (std::none_of(judgements.begin(), judgements.end(), is_wrong)) return outputs;
    MSDUMP_TRY(const std::set<TensorId> asked_otherwise, right_in_candidate(judgements));
    for (const OperatorJudgement& judgement : judgements) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_wrong()) continue;
        if (partner_in(trusted, output.tensor) == nullptr || asked_otherwise.count(output.tensor) > 0) continue;
        const TensorId pair = partners_.pair_of_candidate(output.tensor);
        outputs.states[pair] = ComputedState::kWrong;
        outputs.wrong.emplace(pair, ComputedOutput{output, judgement.asked});
      }
    }
    return outputs;
  }

 private:
  [[nodiscard]] std::vector<ExecutionId> runs_that_differ() const {
    std::vector<ExecutionId> runs;
    const auto differs = [&](TensorId tensor) {
      const TensorId pair = partners_.pair_of(tensor);
      return pair != kNoId && diffs_[pair].verdict != Verdict::kSame && diffs_[pair].verdict != Verdict::kSkipped &&
             (*a_.tensors)[partners_.partner(tensor)].has_elements;
    };
    const std::vector<OpRun>& all = reference_.dump.runs();
    for (ExecutionId run{0}; run < all.size(); ++run) {
      if (std::any_of(all[run].outputs.begin(), all[run].outputs.end(), differs)) runs.push_back(run);
    }
    return runs;
  }

  using Trusted = std::map<TensorId, Judgement>;  // of the reference

  // Returns the judgement of the reference's tensor that a tensor of the candidate is paired with; null if it is not right.
  [[nodiscard]] const Judgement* partner_in(const Trusted& trusted, TensorId tensor) const {
    const auto found = trusted.find(TensorId(uint32_t{pairing_.tensors[partners_.pair_of_candidate(tensor)].b}));
    return found == trusted.end() ? nullptr : &found->second;
  }

  // An optimizer's state was what the step before left if the reference's output follows from that. Else nothing is known.
  void forget_state(OperatorJudgement& judgement, const Trusted& trusted) const {
    if (!judgement.assumes_state) return;
    for (OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.is_wrong() || partner_in(trusted, output.tensor) != nullptr) continue;
      output.judgement = {};
      output.judgement.why = {recompute::Reason::kOldValue, output.name};
    }
  }

  [[nodiscard]] Maybe<Array> open(TensorId tensor, const Shape* shape) const {
    if (tensor < a_.tensors->size()) return reader_.open(tensor, shape);
    return open_reference(TensorId(tensor - a_.tensors->size()), shape);
  }

  [[nodiscard]] Maybe<Array> open_reference(TensorId tensor, const Shape* shape) const {
    return reference_.reader.open(tensor, shape);
  }

  // By `runs`.
  [[nodiscard]] Result<std::vector<OperatorJudgement>> judge_partners(const std::vector<ExecutionId>& runs) const {
    std::vector<std::pair<size_t, size_t>> asked;  // place in `runs`, and which of its questions
    for (size_t i = 0; i < runs.size(); ++i) {
      // Only the inputs of a region may be placed in several ways.
      const size_t ways = partners_.members(runs[i]).size() == 1 ? 1 : partners_.ask(runs[i]).size();
      for (size_t way = 0; way < ways; ++way) asked.emplace_back(i, way);
    }
    const auto ask = [&](size_t i) {
      const auto& [place, way] = asked[i];
      Question question = std::move(partners_.ask(runs[place])[way]);
      question.run = runs[place];
      return question;
    };
    MSDUMP_TRY(auto all,
               recompute::judge_questions(
                   asked.size(), ask, [&](TensorId tensor, const Shape* shape) { return open(tensor, shape); },
                   options_, context_));
    std::vector<OperatorJudgement> judgements(runs.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& [place, way] = asked[i];
      if (way == 0 || is_better(all[i], judgements[place])) judgements[place] = std::move(all[i]);
    }
    return judgements;
  }

  // Only the candidate's mistakes are looked for.
  [[nodiscard]] recompute::RecomputeOptions unexplained() const {
    recompute::RecomputeOptions options = options_;
    options.most_explained = 0;
    return options;
  }

  // Tensors of the reference that are right, where nothing that the candidate fused with their operator is wrong: there the
  // questions and kernels are as they should be. Of an update only the parameter may be known, and not the state.
  [[nodiscard]] Result<Trusted> right_in_reference(const std::vector<ExecutionId>& runs) const {
    std::vector<ExecutionId> members, of;
    for (const ExecutionId run : runs) {
      for (const ExecutionId member : partners_.members(run)) {
        members.push_back(member);
        of.push_back(run);
      }
    }
    MSDUMP_TRY(const auto judgements,
               recompute::judge_questions(
                   members.size(), [&](size_t i) { return reference_.questions.ask(members[i]); },
                   [&](TensorId tensor, const Shape* shape) { return open_reference(tensor, shape); }, unexplained(),
                   context_));
    std::set<ExecutionId> doubted;
    for (size_t i = 0; i < members.size(); ++i) {
      const bool is_member = members[i] != of[i];
      if (is_member ? !judgements[i].is_right() : judgements[i].is_wrong()) doubted.insert(of[i]);
    }
    Trusted right;
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i] != of[i] || doubted.count(of[i]) > 0) continue;
      for (const OutputJudgement& output : judgements[i].outputs) {
        if (output.judgement.is_right()) right.emplace(output.tensor, output.judgement);
      }
    }
    return right;
  }

  // Wrong outputs that are right by the candidate's own graph or call: it was asked something else.
  [[nodiscard]] Result<std::set<TensorId>> right_in_candidate(const std::vector<OperatorJudgement>& judgements) const {
    const RecomputedSide candidate(a_, options_.most_elements);
    std::set<ExecutionId> runs;
    for (const OperatorJudgement& judgement : judgements) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (!output.judgement.is_wrong()) continue;
        if (const ExecutionId run = candidate.dump.run_of(output.tensor); run != kNoId) runs.insert(run);
      }
    }
    recompute::RecomputeOptions options = unexplained();
    options.device = recompute::traits_of(judgements);  // those that are wrong do not show it
    MSDUMP_TRY(const auto own, recompute::recompute(a_, candidate.dump.run_graph(), candidate.dump.operators(),
                                                    {runs.begin(), runs.end()}, context_, options));
    std::set<TensorId> right;
    for (const OperatorJudgement& judgement : own) {
      for (const OutputJudgement& output : judgement.outputs) {
        if (output.judgement.is_right()) right.insert(output.tensor);
      }
    }
    return right;
  }

  // Compares folded filters and biases with what the reference's parameters lead to.
  void judge_folds(ComputedOutputs& outputs) const {
    const auto of_reference = [&](TensorId tensor, const Shape* shape) { return open_reference(tensor, shape); };
    const std::vector<OpRun>& runs = reference_.dump.runs();
    for (ExecutionId run{0}; run < runs.size() && !context_.cancel.cancelled(); ++run) {
      const auto fold = partners_.folded(run);
      if (!fold) continue;
      const auto call_of = [&](ExecutionId asked) {
        auto read = recompute::read_question(reference_.questions.ask(asked), of_reference);
        return read ? std::move(read->call) : recompute::Call();
      };
      const recompute::Call convolution = call_of(fold->convolution);
      const Maybe<Tensor> filter = convolution.tensor("w");
      Maybe<Tensor> bias = convolution.tensor_if("bias");
      if (fold->bias != kNoId) bias = call_of(fold->bias).tensor("b");
      if (!filter || !bias) continue;
      const auto expected = recompute::fold(**filter, *bias, call_of(fold->batch_norm));
      if (!expected) continue;
      const std::array<Judgement, 2> judgements = {
          judge_folded(fold->folded_filter, &(*filter)->shape, expected->filter),
          judge_folded(fold->folded_bias, nullptr, expected->bias)};
      const auto is_unknown = [](const Judgement& one) { return !one.is_right() && !one.is_wrong(); };
      if (std::any_of(judgements.begin(), judgements.end(), is_unknown)) continue;
      for (const TensorId tensor : {fold->folded_filter, fold->folded_bias}) {
        if (const TensorId pair = partners_.pair_of_candidate(tensor); pair != kNoId) outputs.folded.insert(pair);
      }
      for (const Judgement& judgement : judgements) {
        if (!judgement.is_wrong()) continue;
        for (const TensorId output : runs[run].outputs) {
          if (partners_.pair_of(output) != kNoId)
            outputs.misfolded.emplace(partners_.pair_of(output), ComputedOutput{{output, {}, judgement, {}}, {}});
        }
      }
    }
  }

  [[nodiscard]] Judgement judge_folded(TensorId tensor, const Shape* shape, const recompute::Output& expected) const {
    const Maybe<Tensor> folded = reader_.read(tensor, shape);
    if (!folded) return {};
    const recompute::OperandFormats formats = {(*folded)->effective, DType::kFloat32};
    return recompute::judge(**folded, recompute::fold_kernel(), expected, formats, {});
  }

  const CompareSide& a_;
  const CompareSide& b_;
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const RunContext& context_;
  const recompute::Extent extent_;
  const recompute::RecomputeOptions options_;
  const RecomputedSide reference_;
  const PartnerQuestions partners_;
  const recompute::TensorReader reader_;  // of the candidate
};

}  // namespace

Result<ComputedOutputs> compute_outputs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                        const std::vector<TensorDiff>& diffs, recompute::Extent extent,
                                        const RunContext& context) {
  const auto has_elements = [](const TensorRecord& record) { return record.has_elements; };
  const bool any = std::any_of(a.tensors->begin(), a.tensors->end(), has_elements) &&
                   std::any_of(b.tensors->begin(), b.tensors->end(), has_elements);
  if (!any || pairing.other_framework || extent == recompute::Extent::kNever) return ComputedOutputs();
  return OutputComputer(a, b, pairing, diffs, extent, context).run();
}

}  // namespace msdump
