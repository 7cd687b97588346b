#include "divergence/divergence.h"

#include <algorithm>
#include <cmath>

#include "base/enum_table.h"
#include "divergence/alarms/blame_state.h"
#include "divergence/alarms/changed_values.h"
#include "divergence/alarms/entering_values.h"
#include "divergence/alarms/operator_outputs.h"
#include "divergence/error_growth.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/root_reach.h"
#include "divergence/roots/one_sided_chain.h"
#include "divergence/roots/undumped.h"
#include "divergence/roots/unseen_calls.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {
namespace {

class Finder {
 public:
  Finder(const RunView& view, const NoiseModel& model) : state_(view, model), view_(view), entering_(state_) {}

  DivergenceReport run() {
    DivergenceReport report;
    for (uint32_t run = 0; run < view_.runs().size(); ++run) judge(run);
    if (state_.roots.size() == 0) add_apart();
    report.roots = std::move(state_.roots).finish();
    report.limits = state_.limits;
    if (report.roots.empty() && view_.graph().flow() != FlowKind::kIr) report.cut = GradientCuts(view_).first();
    return report;
  }

  [[nodiscard]] const RunHistory& history() const { return state_.history; }

 private:
  void judge(uint32_t run) {
    state_.begin(run);
    const size_t before = state_.roots.size();
    if (view_.one_sided(run)) {
      pass_on(run);
    } else {
      judge_partners(run);
    }
    judge_exchange(run, before);
    if (state_.roots.size() > before) state_.note_alarm(run);
    if (!view_.one_sided(run) && own(run).downstream) estimate_healthy(run);
  }

  // A run that both sides have.
  void judge_partners(uint32_t run) {
    RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    if (view_.graph().flow() == FlowKind::kOrder) inputs.downstream = inputs.elevated = state_.any_before;
    const bool follows = view_.of_cuts() && follows_alarm(inputs);
    if (follows) inputs.downstream = inputs.elevated = true;
    const std::vector<uint32_t> outputs = view_.outputs(run);
    entering_.note_parameters(run, inputs);
    const size_t before = state_.roots.size();
    const bool draws = draws_differently(state_, run, inputs, outputs);
    const bool passes = draws && judge_one_sided_draw(state_, run, inputs, outputs);
    own(run).random = inputs.random || (draws && !passes);
    if (view_.of_cuts()) judge_entering_nan(state_, run, inputs);
    if (!own(run).random && state_.roots.size() == before) judge_values(run, inputs, outputs, follows);
    if (state_.roots.size() == before) judge_nan(state_, run, inputs, outputs);
    own(run).downstream = own(run).downstream || inputs.downstream;
    own(run).downstream_of_nan = own(run).downstream_of_nan || inputs.downstream_of_nan;
    note_errors(run, outputs);
  }

  // What is wrong with the inputs comes first: the outputs follow from it.
  void judge_values(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs, bool follows) {
    const size_t before = state_.roots.size();
    if (!inputs.entering.empty() && !view_.heals(run)) entering_.judge(run, inputs);
    const bool any_alarm = state_.alarmed_before || state_.any_before || state_.roots.size() > before;
    if (!inputs.carried.empty() && !any_alarm) entering_.judge_carried(run, inputs, outputs);
    if (!inputs.constants.empty()) judge_constants(state_, run, inputs, outputs);
    const bool known = !inputs.changed.empty() && (inputs.rescaled || matters(state_, run, inputs, outputs)) &&
                       (follows || judge_changed(state_, run, inputs));
    own(run).downstream = own(run).downstream || known;
    if (state_.roots.size() == before && !known) judge_shape(state_, run, inputs, outputs);
    if (state_.roots.size() == before && !known) judge_outputs(state_, run, inputs, outputs);
  }

  // A collective may show by itself that it is wrong, whatever the layouts and the other side are: also where the run has no
  // root, of those from `before` on.
  void judge_exchange(uint32_t run, size_t before) {
    const BrokenExchange* const broken = view_.broken(run);
    if (broken == nullptr || view_.all_agree(run)) return;
    if (state_.roots.size() == before) {
      const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
      (void)state_.roots.add(run, DivergenceKind::kValue, inputs, view_.outputs(run));
    }
    Divergence& root = state_.roots.last().divergence;
    if (!broken->ranks.empty()) root.ranks = broken->ranks;
    root.reason += (root.reason.empty() ? "" : "; ") + broken->reason;
  }

  // What the candidate's ranks show by themselves.
  void add_apart() {
    if (!view_.of_cuts() || !view_.cuts()->apart) return;
    const ReplicasApart& apart = *view_.cuts()->apart;
    const uint32_t run = view_.graph().run_of(apart.tensor);
    if (run == kNoRun) return;
    const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    Root& root = apart.is_parameter
                     ? state_.roots.add_entering(run, DivergenceKind::kParameter, inputs, apart.tensor)
                     : state_.roots.add(run, state_.roots.kind_of({apart.tensor}), inputs, {apart.tensor});
    root.lower(kUnknownSource);
    root.divergence.ranks = apart.ranks;
    root.divergence.reason = apart.reason;
  }

  // All gradients come from the loss, and so from the whole forward pass; a step is made of what the ones before leave.
  // Where the runs are cut differently edges do not show all of that, nor what calls of one side alone have read.
  [[nodiscard]] bool follows_alarm(const RunInputs& inputs) const {
    const bool unseen = !inputs.changed.empty() || inputs.evidence.empty();
    return state_.alarmed_before || (state_.backward && state_.alarmed[0]) || (state_.any_before && unseen);
  }

  // A run without a partner has no outputs of its own to judge.
  void pass_on(uint32_t run) {
    const auto inherit = [&](uint32_t producer) {
      const RunState& from = own(producer);
      own(run).downstream = own(run).downstream || from.downstream;
      own(run).downstream_of_nan = own(run).downstream_of_nan || from.downstream_of_nan;
      own(run).random = own(run).random || from.random;
    };
    for (const RunInput& input : view_.run(run).inputs) {
      for (const uint32_t from : {input.made_by, input.updated_by}) {
        if (from != kNoRun) inherit(from);
      }
      for (const uint32_t before : view_.graph().before_gap(input)) inherit(before);
    }
  }

  // What the outputs would have without the alarms upstream.
  void estimate_healthy(uint32_t run) {
    const std::span<const ScoredOutput> outputs = state_.model.outputs(run);
    if (outputs.empty()) return;
    std::vector<double>& healthy = state_.history.healthy;
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.tensor == kNoTensor || !view_.compared(input.made_as)) continue;
      healthy[input.tensor] = std::min(healthy[input.tensor], healthy[input.made_as]);
    }
    std::vector<KnownInput> inputs = state_.model.inputs(run);
    for (KnownInput& input : inputs) input.error.relative = healthy[input.tensor];
    for (const ScoredOutput& output : outputs) {
      const double expected = state_.model.expected_with(output, inputs) * std::exp(output.siblings.centre);
      healthy[output.tensor] = std::min(healthy[output.tensor], expected);
    }
  }

  void note_errors(uint32_t run, const std::vector<uint32_t>& outputs) {
    // Gradients of parameters may be listed before the backward call that makes them.
    if (view_.is_backward(run) && view_.run(run).inputs.empty()) return;
    // Ranks may have a sum where others have the mean, which a later call takes.
    if (view_.of_cuts() && view_.is_collective(run)) return;
    double& largest = state_.history.largest_error;
    for (const uint32_t tensor : outputs) {
      if (const auto& error = view_.error(tensor); error && !error->discrete && view_.layout_known(tensor))
        largest = std::max(largest, error->relative);
    }
  }

  [[nodiscard]] RunState& own(uint32_t run) { return state_.history.states[run]; }

  BlameState state_;
  const RunView& view_;
  EnteringValues entering_;
};

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr auto kNames =
      enum_table<DivergenceKind, std::string_view>("value", "nan", "shape", "missing", "parameter", "input");
  return kNames[kind];
}

DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                  const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                  const DivergenceDetails& details) {
  const RunView view(a, b, pairing, diffs, modules, details.cuts);
  const NoiseModel model(view);
  Finder finder(view, model);
  DivergenceReport report = finder.run();
  report.flow = view.graph().flow();
  find_candidates(a, b, pairing, view, report.roots);
  find_chains(view, report.roots);
  find_unseen_calls(view, model, finder.history(), report.roots);
  report.scores.resize(diffs.size());
  for (const ScoredOutput& output : model.outputs()) {
    if (output.judged()) report.scores[output.tensor] = TensorScore{output.measured, expected_of(output), output.score};
  }
  if (details.flow) {
    for (uint32_t tensor = 0; tensor < diffs.size(); ++tensor) report.runs.push_back(view.graph().run_of(tensor));
    report.edges = flow_edges(view.graph());
  }
  const RootReach reach(view, report.roots);
  Explanations explanations = explain_tensors(view, model, finder.history(), reach, report.roots);
  report.explained = std::move(explanations.explained);
  report.unjudged = std::move(explanations.unjudged);
  report.loss_scale = view.loss_scale();
  report.growth = error_growth(view, model);
  account_for(view, model, finder.history(), reach, details.explain, report);
  report.limits.insert(model.limits().begin(), model.limits().end());
  return report;
}

}  // namespace msdump
