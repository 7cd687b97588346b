#include "divergence/divergence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/numbers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "divergence/alarms.h"
#include "divergence/asked.h"
#include "divergence/explanation.h"
#include "divergence/kept_gradients.h"
#include "divergence/missed_update.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/roots/call_chain.h"
#include "divergence/roots/rejoining.h"
#include "divergence/roots/undumped.h"
#include "divergence/roots/unseen_calls.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"
#include "ge/operators/operator_properties.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

// How the error grows along the operators of a comparison.

constexpr size_t kParts = 10;

// The growth in the first rank and step, without integers and booleans.
ErrorGrowth error_growth(const RunView& view, const NoiseModel& model) {
  std::vector<double> errors, noises;
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    if (!view.place(run).is_beside(view.runs()[0].place)) continue;
    for (const TensorId tensor : view.outputs(run)) {
      const auto error = view.error(tensor);
      if (error && !error->discrete) errors.push_back(error->relative);
    }
    for (const ScoredOutput& output : model.outputs(run)) {
      if (output.judged()) noises.push_back(output.noise);
    }
  }
  ErrorGrowth growth;
  const size_t parts = std::min(kParts, errors.size());
  for (size_t part = 0; part < parts; ++part) {
    const size_t first = errors.size() * part / parts, end = errors.size() * (part + 1) / parts;
    growth.medians.push_back(quantile_of_unsorted(std::span(errors).subspan(first, end - first), 0.5));
  }
  if (!noises.empty()) growth.noise = quantile_of_unsorted(noises, 0.5);
  return growth;
}

using From = InputEdge::From;

class Finder {
 public:
  Finder(const RunView& view, const NoiseModel& model, const ComputedOutputs& computed, const AskedRoots& asked,
         const std::optional<MissedUpdate>& missed, const std::optional<KeptGradients>& kept,
         const DivergenceDetails& details, const Rejoining* rejoining, std::set<ExecutionId>& inert, bool of_last_pass)
      : state_(view, model, details.asked_otherwise),
        view_(view),
        entering_(state_, of_last_pass),
        computed_(computed),
        accepted_(details.accepted),
        asked_(asked),
        missed_(missed),
        kept_(kept),
        rejoining_(rejoining),
        inert_(inert) {}

  DivergenceReport run() {
    DivergenceReport report;
    for (ExecutionId run{0}; run < view_.runs().size(); ++run) judge(run);
    if (state_.roots.size() == 0) add_apart();
    report.roots = std::move(state_.roots).finish();
    std::erase_if(report.roots, [&](const Divergence& root) { return is_fused(root); });
    // Behind a root that stays, no error is usual.
    const auto stays = std::find_if_not(report.roots.begin(), report.roots.end(),
                                        [&](const Divergence& root) { return is_inert(root); });
    report.roots.erase(report.roots.begin(), stays);
    report.other_calls = std::move(other_calls_);
    report.limits = state_.limits;
    report.limits.insert(asked_.limits.begin(), asked_.limits.end());
    // A cut gradient explains a missing update: the optimizer leaves a parameter without a gradient as it is.
    const bool is_left = report.roots.size() == 1 && report.roots.front().rule == RootRule::kUpdate;
    if ((report.roots.empty() || is_left) && view_.graph().flow() != FlowKind::kIr) {
      report.cut = GradientCuts(view_).first();
      if (report.cut) report.roots.clear();
      if (report.roots.empty()) note_inert_calls();
    }
    report.rewritten = asked_.rewritten;
    report.rewritten.insert(asked_.of_rewriting.begin(), asked_.of_rewriting.end());
    return report;
  }

  [[nodiscard]] const RunHistory& history() const { return state_.history; }

 private:
  void judge(ExecutionId run) {
    state_.begin(run);
    const size_t before = state_.roots.size();
    if (is_accepted(run)) {
      pass_on(run);
      note_errors(run, view_.outputs(run));
    } else if (const auto asked = asked_.roots.find(run); asked != asked_.roots.end()) {
      add_asked(run, asked->second);
    } else if (kept_ && kept_->at == run && before == 0) {
      add_kept(run);
    } else if (kept_ && kept_->executions.contains(run)) {
      pass_on(run);
    } else if (view_.one_sided(run) || inert_.count(run) > 0 || asked_.is_rewritten(view_.run(run).op) ||
               is_another_call(run)) {
      pass_on(run);
    } else {
      judge_partners(run);
    }
    judge_exchange(run, before);
    if (state_.roots.size() > before) state_.note_alarm(run);
  }

  // True if all differences of its outputs are accepted: what it leads to is then a part of the errors that its consumers read.
  [[nodiscard]] bool is_accepted(ExecutionId run) const {
    if (accepted_ == nullptr) return false;
    const std::vector<TensorId> outputs = view_.outputs(run);
    const auto accepted = [&](TensorId tensor) { return (*accepted_)[tensor]; };
    return std::any_of(outputs.begin(), outputs.end(), accepted) &&
           std::all_of(outputs.begin(), outputs.end(),
                       [&](TensorId tensor) { return accepted(tensor) || !view_.differs(tensor); });
  }

  void add_asked(ExecutionId run, const AskedRoot& asked) {
    RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    const bool one_sided = view_.one_sided(run);
    if (one_sided) {
      inputs.evidence = asked.inputs;
    } else {
      entering_.note_parameters(run, inputs);
    }
    const DivergenceKind kind = one_sided && !view_.of_candidate_only(run)
                                    ? DivergenceKind::kMissing
                                    : state_.roots.kind_of(asked.outputs.empty() ? asked.inputs : asked.outputs);
    Divergence& root = state_.roots.add(run, RootRule::kGraph, kind, inputs, asked.outputs).divergence;
    root.reader = asked.reader;
    root.reason = asked.reason;
  }

  // True for a call with another argument that reads other values, although nothing upstream explains them: the sequence of calls has paired
  // it with one that does something else. In later steps the parameters explain everything.
  [[nodiscard]] bool is_another_call(ExecutionId run) {
    const OperatorId op = view_.run(run).op;
    if (state_.asked_otherwise.count(op) == 0) return false;
    const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    const uint32_t name = view_.name_number(run);
    if (inputs.evidence.empty() ||
        !std::all_of(inputs.evidence.begin(), inputs.evidence.end(),
                     [&](TensorId tensor) { return is_other_value(tensor); }) ||
        (inputs.downstream && other_names_.count(name) == 0))
      return false;
    other_calls_.insert(op);
    other_names_.insert(name);
    return true;
  }

  [[nodiscard]] bool is_other_value(TensorId tensor) const {
    const auto error = view_.error(tensor);
    return view_.is(tensor, Verdict::kShape) || (error && error->relative > kMostError);
  }

  void leave_out_exchanged(ExecutionId run, RunInputs& inputs) const {
    const auto slots = asked_.exchanged.find(run);
    if (slots == asked_.exchanged.end()) return;
    const auto is_exchanged = [&](const RunInput* input) { return slots->second.count(input->slot) > 0; };
    std::erase_if(inputs.entering, is_exchanged);
    std::erase_if(inputs.changed, is_exchanged);
  }

  // Judges an execution that both sides have.
  void judge_partners(ExecutionId run) {
    RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    if (view_.graph().flow() == FlowKind::kOrder) inputs.downstream = state_.any_before;
    // A folded filter or bias was compared with the parameters of the reference (ComputedOutputs::folded).
    std::erase_if(inputs.entering, [&](const RunInput* input) { return computed_.folded.count(input->tensor) > 0; });
    leave_out_exchanged(run, inputs);
    const bool follows = (view_.is_sharded() && follows_alarm(inputs)) || asked_.is_behind(run);
    if (follows) inputs.downstream = true;
    std::vector<TensorId> outputs = view_.outputs(run);
    // A statistic of the reference is listed among the tensors that its operator updates.
    std::erase_if(outputs, [&](TensorId tensor) { return computed_.folded.count(tensor) > 0; });
    entering_.note_parameters(run, inputs);
    const size_t before = state_.roots.size();
    const bool draws = draws_differently(state_, run, inputs, outputs);
    const bool passes = draws && judge_one_sided_draw(state_, run, inputs, outputs);
    own(run).random = inputs.random || (draws && !passes);
    if (view_.is_sharded()) judge_entering_nan(state_, run, inputs);
    if (chooses_otherwise(run, inputs, outputs)) inputs.chosen = state_.history.any_chosen = true;
    if (hides_choice(run, inputs, outputs)) state_.history.any_chosen = true;
    own(run).chosen = inputs.chosen;
    if (!own(run).random && state_.roots.size() == before) judge_values(run, inputs, outputs, follows);
    if (state_.roots.size() == before && !is_behind_alarm(inputs)) judge_nan(state_, run, inputs, outputs);
    own(run).downstream = own(run).downstream || inputs.downstream;
    own(run).downstream_of_nan = own(run).downstream_of_nan || inputs.downstream_of_nan;
    note_errors(run, outputs);
  }

  // True if an operator that chooses among its inputs, or counts them, did so otherwise because they differ.
  [[nodiscard]] bool chooses_otherwise(ExecutionId run, const RunInputs& inputs,
                                       const std::vector<TensorId>& outputs) const {
    const bool sizes = ge::has_property(state_.model.family(run), ge::OperatorProperty::kSizesByValues);
    if ((!sizes && state_.model.gain(run).rule != GainRule::kChoose) || inputs.evidence.empty()) return false;
    const bool equal = std::all_of(inputs.evidence.begin(), inputs.evidence.end(), [&](TensorId tensor) {
      const auto& error = view_.error(tensor);
      return error && error->exact;
    });
    return !equal && std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
      const auto& error = view_.error(tensor);
      return view_.is(tensor, Verdict::kShape) || (error && error->discrete && error->relative > 0);
    });
  }

  // True if it may have chosen otherwise unseen, among numbers that differ: statistics of indices are equal for others, too.
  [[nodiscard]] bool hides_choice(ExecutionId run, const RunInputs& inputs,
                                  const std::vector<TensorId>& outputs) const {
    const bool any_differs = std::any_of(inputs.evidence.begin(), inputs.evidence.end(), [&](TensorId tensor) {
      const auto& error = view_.error(tensor);
      return !error || (!error->discrete && !error->exact) || error->relative > 0;
    });
    if (state_.model.gain(run).rule != GainRule::kChoose || !any_differs) return false;
    return std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
      const auto& error = view_.error(tensor);
      return error && error->discrete && error->by_statistics && !error->exact;
    });
  }

  // Judges the inputs first, because the outputs follow from them.
  void judge_values(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs, bool follows) {
    const size_t before = state_.roots.size();
    if (missed_ && missed_->reader == run && before == 0) return add_missed_update(inputs);
    if (!inputs.entering.empty() && !view_.heals(run)) entering_.judge(run, inputs);
    const bool any_alarm = state_.alarmed_before || state_.any_before || state_.roots.size() > before;
    const bool handed_on = inputs.handed_on != nullptr && !follows && judge_changed(state_, run, inputs);
    if (judge_computed(run, inputs, outputs) || judge_outliers(run, inputs, outputs)) return;
    // The model knows no values that follow from another choice.
    if (inputs.chosen || (is_behind_alarm(inputs) && (!inputs.are_equal() || asked_.is_behind(run)))) return;
    if (!inputs.carried.empty() && !any_alarm) entering_.judge_carried(run, inputs, outputs);
    if (!inputs.constants.empty()) judge_constants(state_, run, inputs, outputs);
    const bool known =
        handed_on || (!inputs.changed.empty() && (inputs.rescaled || matters(state_, run, inputs, outputs)) &&
                      judge_changed(state_, run, inputs));
    own(run).downstream = own(run).downstream || known;
    if (state_.roots.size() == before && !known) judge_shape(state_, run, inputs, outputs);
    if (state_.roots.size() == before && !known && !is_acquitted(outputs)) judge_outputs(state_, run, inputs, outputs);
  }

  // True if an alarm explains the inputs, and not only what earlier steps left in the weights.
  [[nodiscard]] bool is_behind_alarm(const RunInputs& inputs) const {
    return inputs.downstream && (state_.alarmed_before || state_.any_before);
  }

  // Adds the call that updates a value on one side alone as a root, by the first operator that reads the value in the next step.
  void add_missed_update(const RunInputs& inputs) {
    const MissedUpdate& missed = *missed_;
    const DivergenceKind kind = missed.of_candidate ? DivergenceKind::kMissing : DivergenceKind::kValue;
    Divergence& root = state_.roots.add(missed.writer, RootRule::kUpdate, kind, inputs, {}).divergence;
    root.inputs = {missed.tensor};
    root.reader = missed.reader;
    root.reason =
        fmt::format("only the {} has it: it writes what {} reads in the next step; {}",
                    missed.of_candidate ? "reference" : "candidate", view_.name(missed.reader),
                    missed.values == 1 ? "without it, that is the value of the step before"
                                       : fmt::format("without such calls, {} values stay as they were", missed.values));
  }

  void add_kept(ExecutionId run) {
    const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    Divergence& root =
        state_.roots.add(run, RootRule::kKept, DivergenceKind::kValue, inputs, kept_->tensors).divergence;
    root.reason =
        fmt::format("only the {} keeps the gradients of the batch before: the means of {} differ by {:.2g} of theirs",
                    name_of(kept_->of_candidate ? Side::kCandidate : Side::kReference),
                    plural(kept_->tensors.size(), "tensor"), kept_->share);
  }

  // An output that was computed again and is wrong makes a root by itself, whatever is upstream.
  bool judge_computed(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
    return add_computed(run, inputs, outputs, computed_.wrong, "it computes something else than its inputs lead to") ||
           add_computed(run, inputs, outputs, computed_.misfolded,
                        "its folded filter or bias is something else than the reference's parameters lead to");
  }

  bool add_computed(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs,
                    const std::map<TensorId, ComputedOutput>& judgements, std::string_view reason) {
    std::vector<TensorId> wrong;
    for (const TensorId tensor : outputs) {
      if (judgements.count(tensor) > 0) wrong.push_back(tensor);
    }
    if (wrong.empty()) return false;
    Divergence& root =
        state_.roots.add(run, RootRule::kComputed, state_.roots.kind_of(wrong), inputs, wrong).divergence;
    root.reason = fmt::format("{}: {}", reason, recompute::describe_wrong(judgements.at(wrong.front()).output));
    return true;
  }

  // An output that is far less exact than similar ones makes a root likewise: errors of its inputs are no part of what was compared.
  bool judge_outliers(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
    std::vector<TensorId> coarse;
    for (const TensorId tensor : outputs) {
      if (computed_.outliers.count(tensor) > 0) coarse.push_back(tensor);
    }
    if (coarse.empty()) return false;
    const recompute::Outlier& outlier = computed_.outliers.at(coarse.front());
    Divergence& root =
        state_.roots.add(run, RootRule::kOutlier, state_.roots.kind_of(coarse), inputs, coarse).divergence;
    root.reason =
        outlier.format != DType::kUndefined
            ? fmt::format("its output is rounded to {}, and those of the other {} operators of its type are not",
                          info(outlier.format).name, outlier.similar)
            : fmt::format(
                  "computed again from its own inputs, its error is {:.2g} times the largest of {} operators {}",
                  outlier.times, outlier.similar, outlier.of_type ? "of its type" : "with outputs of its format");
    return true;
  }

  // True if an output was computed again from the candidate's own inputs and is right, as is every one that differs. A running mean
  // that is updated in place follows from the outputs, and from what no file has.
  [[nodiscard]] bool is_acquitted(const std::vector<TensorId>& outputs) const {
    const auto is_right = [&](TensorId tensor) { return computed_.state(tensor) == ComputedState::kRight; };
    return std::any_of(outputs.begin(), outputs.end(), is_right) &&
           std::all_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
             return !view_.differs(tensor) || is_right(tensor) ||
                    (computed_.state(tensor) == ComputedState::kUnknown &&
                     view_.graph().role(tensor) == TensorRole::kUpdated);
           });
  }

  // True for operators that the candidate has within others, and does not lack.
  [[nodiscard]] bool is_fused(const Divergence& root) const {
    const auto fused = [&](OperatorId op) { return computed_.fused.count(op) > 0; };
    return root.kind == DivergenceKind::kMissing && fused(root.op) &&
           std::all_of(root.places.begin(), root.places.end(), [&](const auto& place) { return fused(place.op); });
  }

  // True for a root by structure (an operator of one side, another argument, shape or value read, one that changed on the way) behind which
  // values agree again: both sides write the same in two ways. Notes what lies in between.
  [[nodiscard]] bool is_inert(const Divergence& root) {
    // A scalar is an argument; another one is no sign of another call.
    const bool reads_another = root.rule == RootRule::kSource &&
                               element_count(view_.diff(root.inputs.front()).shape) != 1 &&
                               is_other_value(root.inputs.front());
    const bool other_shape =
        root.kind == DivergenceKind::kShape || (!root.inputs.empty() && view_.is(root.inputs.front(), Verdict::kShape));
    const bool by_structure = reads_another || other_shape || root.rule == RootRule::kChanged ||
                              view_.one_sided(root.run) || makes_another_value(root.run);
    const bool is_exact = decided_by(root.rule) != DecidedBy::kEstimate;
    const bool by_graph = root.rule == RootRule::kGraph && view_.one_sided(root.run);
    if (rejoining_ == nullptr || !by_structure || (is_exact && !by_graph)) return false;
    std::vector<ExecutionId> starts = {root.run};
    if (root.reader != kNoId) starts.push_back(root.reader);
    return find_inert(starts);
  }

  // Arguments are evidence that no statistics outweigh, but for the loss itself.
  bool find_inert(const std::vector<ExecutionId>& starts) {
    const auto region = rejoining_->behind(starts);
    if (!region || (makes_another_value(starts.front()) && !rejoining_->reaches_end(*region))) return false;
    // A call that is a rewriting in one step is one in every later step of its rank.
    for (const ExecutionId run : *region) {
      const auto all = view_.runs_of_name(run);
      const auto is_of_rank = [&](ExecutionId one) { return view_.place(one).rank == view_.place(run).rank; };
      for (auto same = std::lower_bound(all.begin(), all.end(), run); same != all.end() && is_of_rank(*same); ++same)
        inert_.insert(*same);
    }
    return true;
  }

  // True for a call with another argument that makes another value of it.
  [[nodiscard]] bool makes_another_value(ExecutionId run) const {
    const std::vector<TensorId>& outputs = view_.run(run).outputs;
    return state_.asked_otherwise.count(view_.run(run).op) > 0 &&
           std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) { return is_other_value(tensor); });
  }

  void note_inert_calls() {
    for (ExecutionId run{0}; rejoining_ != nullptr && run < view_.runs().size(); ++run) {
      if (inert_.count(run) > 0 || !(view_.one_sided(run) || makes_another_value(run))) continue;
      (void)find_inert({run});
    }
  }

  // Reports a collective whose ranks did not receive what was sent. That needs neither placements nor the reference.
  // `before` is the number of roots before the execution: it becomes one if it has none yet.
  void judge_exchange(ExecutionId run, size_t before) {
    const BrokenExchange* const broken = view_.broken(run);
    if (broken == nullptr || view_.all_agree(run)) return;
    if (state_.roots.size() == before) {
      const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
      (void)state_.roots.add(run, RootRule::kCollective, DivergenceKind::kValue, inputs, view_.outputs(run));
    }
    Divergence& root = state_.roots.last().divergence;
    if (!broken->ranks.empty()) root.ranks = broken->ranks;
    root.reason += (root.reason.empty() ? "" : "; ") + broken->reason;
  }

  // Adds the first divergence of the candidate's replicas.
  void add_apart() {
    if (!view_.is_sharded() || !view_.placements()->apart) return;
    const ReplicasApart& apart = *view_.placements()->apart;
    const ExecutionId run = view_.graph().run_of(apart.tensor);
    if (run == kNoId) return;
    const RunInputs inputs = inputs_of_run(view_, state_.model, state_.history, run);
    Root& root = apart.is_parameter ? state_.roots.add_entering(run, RootRule::kCollective, DivergenceKind::kParameter,
                                                                inputs, apart.tensor)
                                    : state_.roots.add(run, RootRule::kCollective, state_.roots.kind_of({apart.tensor}),
                                                       inputs, {apart.tensor});
    root.divergence.ranks = apart.ranks;
    root.divergence.reason = apart.reason;
  }

  // True if an alarm may reach the inputs without an edge: edges do not show all that one-sided calls read. All gradients
  // come from the whole forward pass, and a step from the steps before.
  [[nodiscard]] bool follows_alarm(const RunInputs& inputs) const {
    const bool unseen = !inputs.changed.empty() || inputs.evidence.empty();
    return state_.alarmed_before || (state_.backward && state_.alarmed[0]) || (state_.any_before && unseen);
  }

  // Inherits the states of the producers: an execution without a partner has no outputs to judge.
  void pass_on(ExecutionId run) {
    const auto inherit = [&](ExecutionId producer) {
      const RunState& from = own(producer);
      own(run).downstream = own(run).downstream || from.downstream;
      own(run).downstream_of_nan = own(run).downstream_of_nan || from.downstream_of_nan;
      own(run).random = own(run).random || from.random;
    };
    for (const RunInput& input : view_.run(run).inputs) {
      for (const ExecutionId from : {input.producer, input.updated_by}) {
        if (from != kNoId) inherit(from);
      }
      for (const ExecutionId before : view_.graph().before_gap(input)) inherit(before);
    }
  }

  void note_errors(ExecutionId run, const std::vector<TensorId>& outputs) {
    // Parameter gradients may be listed before the backward call that writes them.
    if (view_.is_backward(run) && view_.run(run).inputs.empty()) return;
    double& largest = state_.history.largest_error;
    for (const TensorId tensor : outputs) {
      if (const auto& error = view_.error(tensor); error && !error->discrete && view_.layout_known(tensor))
        largest = std::max(largest, error->relative);
    }
  }

  [[nodiscard]] RunState& own(ExecutionId run) { return state_.history.states[run]; }

  BlameState state_;
  const RunView& view_;
  EnteringValues entering_;
  const ComputedOutputs& computed_;
  const std::vector<bool>* const accepted_;  // null: none
  std::set<OperatorId> other_calls_;
  std::set<uint32_t> other_names_;  // of these
  const AskedRoots& asked_;
  const std::optional<MissedUpdate>& missed_;
  const std::optional<KeptGradients>& kept_;
  const Rejoining* const rejoining_;  // null: report all roots
  std::set<ExecutionId>& inert_;      // executions between places where the sides agree
};

// msprobe writes a backward call once. If gradients of gradients run it again, its place is that of the first time, before the forward
// calls that read the gradients, and its values are those of the last.

// True for a backward call with an input of unknown source before a forward pass of its step, which is not the optimizer's.
bool may_be_of_last_pass(const RunView& view, const Divergence& root) {
  if (root.rule != RootRule::kSource || !view.is_backward(root.run)) return false;
  for (ExecutionId run(root.run + 1); run < view.runs().size() && root.place.is_beside(view.place(run)); ++run) {
    if (!view.is_backward(run) && !view.comes_after_backward(run)) return true;
  }
  return false;
}

// True for a later forward call of the same step.
bool explains_last_pass(const RunView& view, const Divergence& root, ExecutionId backward) {
  return root.run > backward && !view.is_backward(root.run) && root.place.is_beside(view.place(backward));
}

// Drops estimates behind another root: the size of an error does not tell a second fault from what the first one leads to. A root leads to
// whatever the flow takes it to, and to all later steps, by the optimizer; not to an operator whose inputs are equal bit for bit.
void drop_behind_roots(const RunView& view, std::vector<Divergence>& roots) {
  RootReach reach(view);
  std::optional<int64_t> first_step;
  const auto keep = [&](const Divergence& root) {
    reach.add(root);
    if (!first_step || root.place.step < first_step) first_step = root.place.step;
  };
  std::map<RunPlace, ExecutionId> first_of_place;  // roots
  for (const Divergence& root : roots) {
    const auto [first, is_new] = first_of_place.emplace(root.place, root.run);
    if (!is_new) first->second = std::min(first->second, root.run);
  }
  // A flow that follows from values does not show what wrote some inputs: it may be anything before.
  const auto may_read_all_before = [&](const Divergence& root) {
    const std::vector<RunInput>& inputs = view.run(root.run).inputs;
    return view.graph().flow() == FlowKind::kValues &&
           std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
             return input.producer == kNoId && input.parameter.empty() && input.from != From::kConstant &&
                    view.compared(input.tensor) && !view.is(input.tensor, Verdict::kSame);
           });
  };
  const auto is_behind = [&](const Divergence& root) {
    // Only an IR shows that the parameters are among the inputs.
    if (first_step && root.place.step > first_step && view.graph().flow() != FlowKind::kIr) return true;
    const auto first = first_of_place.find(root.place);
    if (first != first_of_place.end() && first->second < root.run && may_read_all_before(root)) return true;
    const bool inputs_are_equal =
        !root.inputs.empty() && std::all_of(root.inputs.begin(), root.inputs.end(),
                                            [&](auto tensor) { return view.is(tensor, Verdict::kSame); });
    return !inputs_are_equal && reach.root_before(root.reader != kNoId ? root.reader : root.run) != kNoRoot;
  };
  const auto is_exact = [](const Divergence& root) { return decided_by(root.rule) != DecidedBy::kEstimate; };
  for (const Divergence& root : roots) {
    if (is_exact(root)) keep(root);
  }
  std::vector<Divergence> kept;
  for (Divergence& root : roots) {
    if (!is_exact(root)) {
      if (is_behind(root)) continue;
      keep(root);
    }
    kept.push_back(std::move(root));
  }
  roots = std::move(kept);
}

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr auto kNames =
      enum_table<DivergenceKind, std::string_view>("value", "nan", "shape", "missing", "parameter", "input");
  return kNames[kind];
}

const OutputScore* DivergenceReport::score_of(TensorId tensor) const {
  const auto after = std::upper_bound(scores.begin(), scores.end(), tensor,
                                      [](TensorId wanted, const OutputScore& score) { return wanted < score.tensor; });
  return after == scores.begin() || std::prev(after)->tensor != tensor ? nullptr : &*std::prev(after);
}

DivergenceReport find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                  const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                  const DivergenceDetails& details) {
  const RunView view(a, b, pairing, diffs, modules, details.placements);
  const NoiseModel model(view);
  const ComputedOutputs none;
  const ComputedOutputs& computed = details.computed != nullptr ? *details.computed : none;
  const Rejoining rejoining(view, details.error_of_records);
  const AskedRoots asked = find_asked(view, model, computed);
  const std::optional<MissedUpdate> missed = first_missed_update(view, model);
  const std::optional<KeptGradients> kept = first_kept_gradients(view);
  std::set<ExecutionId> inert;
  std::optional<Finder> finder;
  DivergenceReport report;
  const auto find_once = [&](const Rejoining* by, bool of_last_pass) {
    finder.emplace(view, model, computed, asked, missed, kept, details, by, inert, of_last_pass);
    report = finder->run();
  };
  const auto find = [&](const Rejoining* by) {
    find_once(by, false);
    if (report.roots.empty() || !may_be_of_last_pass(view, report.roots.front())) return;
    const ExecutionId before = report.roots.front().run;
    find_once(by, true);
    if (report.roots.empty() || !explains_last_pass(view, report.roots.front(), before)) find_once(by, false);
  };
  // Inert operators hide the roots behind them until the next round.
  constexpr ReachedLimit kRoundsLimit = {
      "rounds_of_agreement", kMostRounds,
      "operators behind as many that both sides write in two ways are judged as roots"};
  size_t round = 0, known = 0;
  do {
    known = inert.size();
    find(&rejoining);
  } while (++round < kMostRounds && inert.size() > known);
  const bool any_left = inert.size() > known;
  // A fault can fade into noise as a rewriting does, so all roots are reported if any remains.
  if (!inert.empty() && !report.roots.empty()) {
    inert.clear();
    find(nullptr);
  }
  if (any_left) report.limits.insert(kRoundsLimit);
  report.limits.insert(rejoining.limits().begin(), rejoining.limits().end());
  for (const ExecutionId run : inert) report.rewritten.insert(view.run(run).op);
  drop_behind_roots(view, report.roots);
  report.flow = view.graph().flow();
  find_candidates(a, b, pairing, view, report.roots);
  find_chains(view, report.roots);
  find_unseen_calls(view, model, finder->history(), report.roots);
  const auto judged = [](const ScoredOutput& output) { return output.judged(); };
  report.scores.reserve(static_cast<size_t>(std::count_if(model.outputs().begin(), model.outputs().end(), judged)));
  for (const ScoredOutput& output : model.outputs()) {
    if (output.judged()) report.scores.push_back(score_of(output));
  }
  std::stable_sort(report.scores.begin(), report.scores.end(),
                   [](const OutputScore& left, const OutputScore& right) { return left.tensor < right.tensor; });
  if (details.flow) {
    for (TensorId tensor{0}; tensor < diffs.size(); ++tensor) report.runs.push_back(view.graph().run_of(tensor));
    report.edges = flow_edges(view.graph());
  }
  const RootReach reach(view, report.roots);
  Explanations explanations = explain_tensors(view, model, finder->history(), reach, report, computed);
  report.explained = std::move(explanations.explained);
  report.unjudged = std::move(explanations.unjudged);
  report.loss_scale = view.loss_scale();
  if (!view.runs().empty()) report.error_at_start = view.error_at_start(view.place(ExecutionId(0)));
  report.growth = error_growth(view, model);
  account_for(view, model, finder->history(), reach, computed, details.explain, report);
  report.limits.insert(model.limits().begin(), model.limits().end());
  return report;
}

}  // namespace msdump
