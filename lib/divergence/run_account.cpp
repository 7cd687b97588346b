#include "divergence/run_account.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compare/limits.h"
#include "divergence/computed_outputs.h"
#include "divergence/divergence.h"
#include "divergence/explanation.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {
namespace {

class Accountant {
 public:
  Accountant(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
             const DivergenceReport& report, const ComputedOutputs& computed)
      : view_(view), model_(model), history_(history), reach_(reach), report_(report), computed_(computed) {}

  [[nodiscard]] RunAccount account(ExecutionId run) const {
    RunAccount result;
    result.op = view_.run(run).op;
    result.place = view_.place(run);
    result.threshold = model_.threshold();
    const std::span<const ScoredOutput> outputs = model_.outputs(run);
    for (const ScoredOutput& output : outputs.first(std::min(outputs.size(), kMostTried)))
      result.outputs.push_back(account_of(output));
    add_inputs(run, result);
    std::vector<ExecutionId> through = model_.within(run);
    through.pop_back();
    for (const ExecutionId one : through) result.through.push_back(view_.run(one).op);
    if (result.through.size() > kMostTried) result.through.resize(kMostTried);
    const uint32_t root = find_root(run, result);
    result.is_root = root != kNoRoot;
    const uint32_t cause = result.is_root ? root : reach_.root_before(run);
    if (cause != kNoRoot) result.root_op = report_.roots[cause].op;
    result.conclusion = conclusion(run, result, cause);
    return result;
  }

 private:
  [[nodiscard]] static OutputAccount account_of(const ScoredOutput& output) {
    return {score_of(output), output.judged(), output.propagated, output.noise * output.amplification,
            std::exp(output.siblings.centre)};
  }

  // Adds the inputs that the model knows first, then the others.
  void add_inputs(ExecutionId run, RunAccount& result) const {
    const std::vector<KnownInput> known = model_.inputs(run);
    std::vector<double> gains;
    if (!model_.outputs(run).empty()) {
      const TensorId tensor = model_.outputs(run).front().tensor;
      const KnownOutput output{tensor, 0, *view_.error(tensor), view_.diff(tensor).shape};
      gains = expect(model_.family(run), model_.gain(run), known, output).gains;
    }
    for (size_t i = 0; i < known.size() && result.inputs.size() < kMostTried; ++i) {
      InputAccount input;
      input.tensor = known[i].tensor;
      input.slot = known[i].slot;
      input.error = known[i].error.relative;
      input.exact = known[i].error.exact;
      input.constant = known[i].is_constant;
      if (i < gains.size()) input.gain = gains[i];
      result.inputs.push_back(std::move(input));
    }
    for (const RunInput& input : view_.run(run).inputs) add_origin(input, known, result);
  }

  void add_origin(const RunInput& input, const std::vector<KnownInput>& known, RunAccount& result) const {
    const auto found = std::find_if(known.begin(), known.end(), [&](const KnownInput& one) {
      return one.tensor != kNoId && (one.tensor == input.tensor || one.tensor == input.produced);
    });
    const auto place = static_cast<size_t>(found - known.begin());
    if (found == known.end()) {
      if (result.inputs.size() >= kMostTried) return;
      result.inputs.emplace_back().slot = input.slot;
    } else if (place >= result.inputs.size()) {
      return;
    }
    InputAccount& account = found == known.end() ? result.inputs.back() : result.inputs[place];
    if (input.producer != kNoId) account.producer = view_.run(input.producer).op;
    if (input.from == InputEdge::From::kParameter) account.parameter = input.parameter;
    account.constant = account.constant || input.from == InputEdge::From::kConstant || view_.is_attribute(input.tensor);
  }

  // The root that the execution is: its own, or one with evidence among its outputs. kNoRoot if there is none.
  [[nodiscard]] uint32_t find_root(ExecutionId run, const RunAccount& result) const {
    uint32_t root = reach_.root_at(run);
    for (ExecutionId other{0}; other < report_.roots.size() && root == kNoRoot; ++other) {
      const Divergence& one = report_.roots[other];
      if (!enters(one) && shows(one.outputs, result)) root = other;
    }
    return root;
  }

  [[nodiscard]] static bool shows(const std::vector<TensorId>& evidence, const RunAccount& result) {
    return std::any_of(result.outputs.begin(), result.outputs.end(), [&](const OutputAccount& output) {
      return std::find(evidence.begin(), evidence.end(), output.tensor) != evidence.end();
    });
  }

  // The conclusion from the explanations of its outputs, which explanation.h decides.
  [[nodiscard]] std::string conclusion(ExecutionId run, const RunAccount& account, uint32_t cause) const {
    if (account.is_root) return of_root(run, report_.roots[cause]);
    if (view_.one_sided(run))
      return fmt::format("no root: only the {} has it", view_.of_candidate_only(run) ? "candidate" : "reference");
    if (cause != kNoRoot) return "no root: it depends on " + named(report_.roots[cause]) + score_text(account);
    if (history_.states[run].random) return "not judged: it depends on random numbers that were drawn differently";
    Unjudged reason = Unjudged::kNone;
    bool any_differs = false;
    for (const TensorId tensor : rows_of(run, account)) {
      any_differs = any_differs || view_.differs(tensor);
      if (report_.unjudged[tensor] != Unjudged::kNone) reason = report_.unjudged[tensor];
    }
    if (reason == Unjudged::kUnlikely) return "not explained: " + std::string(text_of(reason)) + score_text(account);
    if (reason != Unjudged::kNone) return "not judged: " + why_not_judged(reason, account);
    if (account.outputs.empty() && !any_differs) return "not judged: none of its outputs was compared";
    if (!any_differs && std::all_of(account.outputs.begin(), account.outputs.end(),
                                    [](const OutputAccount& one) { return one.measured == 0; }))
      return "no root: its outputs are equal";
    const std::optional<double> score = highest_score(account);
    if (score && *score > account.threshold)
      return fmt::format("no root: it stands out, but {}{}",
                         is_right(account) ? "it is right by its own inputs" : "a root explains it",
                         score_text(account));
    if (!score && !any_differs) return "no root: its outputs agree within the tolerance";
    return "no root: its outputs have the error that its inputs and its rounding lead to" + score_text(account);
  }

  // Its outputs, and the tensors that stand in for them.
  [[nodiscard]] std::vector<TensorId> rows_of(ExecutionId run, const RunAccount& account) const {
    std::vector<TensorId> rows = view_.run(run).outputs;
    for (const OutputAccount& output : account.outputs) rows.push_back(output.tensor);
    return rows;
  }

  [[nodiscard]] std::string of_root(ExecutionId run, const Divergence& root) const {
    if (root.run == run) return "a root: " + root.reason;
    const bool place = reach_.root_at(run) != kNoRoot;
    return fmt::format("{} {}: {}", place ? "a further place of the root" : "its outputs show the root",
                       view_.name(root.run), root.reason);
  }

  [[nodiscard]] std::string named(const Divergence& root) const {
    if (enters(root) && !root.parameter.empty()) return fmt::format("the {} {}", name_of(root.kind), root.parameter);
    return fmt::format("the root {}", view_.name(root.run));
  }

  [[nodiscard]] bool is_right(const RunAccount& account) const {
    return std::any_of(account.outputs.begin(), account.outputs.end(), [&](const OutputAccount& output) {
      return computed_.state(output.tensor) == ComputedState::kRight;
    });
  }

  // None if none of its outputs is judged.
  [[nodiscard]] static std::optional<double> highest_score(const RunAccount& account) {
    std::optional<double> highest;
    for (const OutputAccount& output : account.outputs) {
      if (output.judged) highest = std::max(highest.value_or(-INFINITY), output.score);
    }
    return highest;
  }

  [[nodiscard]] static std::string score_text(const RunAccount& account) {
    const std::optional<double> score = highest_score(account);
    return score ? fmt::format("; its score is {:.2g}, an alarm is above {:.2g}", *score, account.threshold)
                 : std::string();
  }

  [[nodiscard]] static std::string why_not_judged(Unjudged reason, const RunAccount& account) {
    if (reason == Unjudged::kLargeInput) {
      for (const InputAccount& input : account.inputs) {
        if (input.error && *input.error > kMostError)
          return fmt::format("its input {} has a relative error of {:.2g}; the model holds up to {}", input.slot,
                             *input.error, kMostError);
      }
    }
    return std::string(text_of(reason));
  }

  const RunView& view_;
  const NoiseModel& model_;
  const RunHistory& history_;
  const RootReach& reach_;
  const DivergenceReport& report_;
  const ComputedOutputs& computed_;
};

}  // namespace

void account_for(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
                 const ComputedOutputs& computed, std::span<const OperatorId> operators, DivergenceReport& report) {
  if (operators.empty()) return;
  const Accountant accountant(view, model, history, reach, report, computed);
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (std::find(operators.begin(), operators.end(), view.run(run).op) == operators.end()) continue;
    if (report.accounts.size() < kMostTried) {
      report.accounts.push_back(accountant.account(run));
    } else {
      ++report.more_accounts;
    }
  }
}

}  // namespace msdump
