#include "divergence/explanation.h"

#include <algorithm>
#include <optional>

#include "base/containers.h"
#include "divergence/divergence.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

RootReach::RootReach(const RunView& view)
    : view_(view),
      root_at_(view.runs().size(), kNoRoot),
      root_before_(view.runs().size(), kNoRoot),
      exchanged_(view.collectives().members.size()) {}

RootReach::RootReach(const RunView& view, const std::vector<Divergence>& roots) : RootReach(view) {
  for (const Divergence& root : roots) add(root);
}

void RootReach::add(const Divergence& root) {
  const uint32_t index = roots_++;
  const Collectives& collectives = view_.collectives();
  std::vector<ExecutionId> work;
  const auto reach = [&](ExecutionId run) {
    if (root_before_[run] != kNoRoot) return;
    root_before_[run] = index;
    work.push_back(run);
  };
  if (!enters(root)) {
    root_at_[root.run] = index;
    for (const DivergencePlace& other : root.places) root_at_[other.run] = index;
  } else if (!root.parameter.empty()) {
    for (const ExecutionId run : view_.graph().readers_of_parameter(root.parameter, root.place)) reach(run);
  }
  reach(root.run);
  if (root.reader != kNoId) reach(root.reader);
  for (const DivergencePlace& other : root.places) reach(other.run);
  while (!work.empty()) {
    const ExecutionId run = work.back();
    work.pop_back();
    for (const auto* const readers : {&view_.run(run).readers, &view_.run(run).later}) {
      for (const ExecutionId reader : *readers) {
        reach(reader);
        const CollectiveId group = collectives.at[reader];
        if (group == kNoId || exchanged_[group]) continue;
        exchanged_[group] = true;
        for (const ExecutionId member : collectives.members[group]) reach(member);
      }
    }
  }
}

namespace {

class Explainer {
 public:
  Explainer(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
            const DivergenceReport& report, const ComputedOutputs& computed)
      : view_(view),
        model_(model),
        history_(history),
        reach_(reach),
        rewritten_(report.rewritten),
        computed_(computed),
        of_root_(view.tensors()) {
    result_.explained.resize(view.tensors());
    result_.unjudged.resize(view.tensors());
    for (const Divergence& root : report.roots) {
      mark(enters(root) ? root.inputs : root.outputs);
      for (const DivergencePlace& other : root.places) mark(other.outputs);
      first_root_ = std::min(first_root_, root.place.step.value_or(0));
    }
  }

  Explanations run() && {
    for (ExecutionId run{0}; run < view_.runs().size(); ++run) {
      explain_inputs(run);
      explain_outputs(run);
    }
    explain_inert();
    for (TensorId tensor{0}; tensor < view_.tensors(); ++tensor) explain_computed(tensor);
    explain_parameters();
    for (TensorId tensor{0}; tensor < view_.tensors(); ++tensor) explain_rest(tensor);
    return std::move(result_);
  }

 private:
  void mark(const std::vector<TensorId>& tensors) {
    for (const TensorId tensor : tensors) of_root_[tensor] = true;
  }

  [[nodiscard]] Explanation explained(TensorId tensor) const { return result_.explained[tensor]; }

  // Explains a tensor that differs. Noise makes neither NaN nor another shape.
  void set(TensorId tensor, Explanation explanation) {
    if (tensor == kNoId || of_root_[tensor] || !view_.differs(tensor)) return;
    if (explanation == Explanation::kNoise && !view_.is(tensor, Verdict::kDiffer)) return;
    result_.explained[tensor] = explanation;
  }

  void leave(TensorId tensor, Unjudged reason) {
    if (tensor != kNoId && result_.unjudged[tensor] == Unjudged::kNone) result_.unjudged[tensor] = reason;
  }

  // Gives a tensor the explanation of another one that it is a copy of.
  void copy(TensorId from, TensorId to) {
    if (explained(from) != Explanation::kNone) {
      set(to, explained(from));
    } else {
      leave(to, result_.unjudged[from]);
    }
  }

  // True if a root is in this step or an earlier one. Without one, nothing is downstream.
  [[nodiscard]] bool any_root_before(ExecutionId run) const { return first_root_ <= view_.place(run).step.value_or(0); }

  // True if the execution depends on a root and is none itself.
  [[nodiscard]] bool is_downstream(ExecutionId run) const {
    if (reach_.root_at(run) != kNoRoot) return false;
    return reach_.root_before(run) != kNoRoot || contains_root(run) ||
           (history_.states[run].downstream && !history_.states[run].alarmed && any_root_before(run));
  }

  [[nodiscard]] bool contains_root(ExecutionId module) const {
    const std::vector<ExecutionId>& inside = view_.inside(module);
    return std::any_of(inside.begin(), inside.end(), [&](auto run) { return reach_.root_before(run) != kNoRoot; });
  }

  void explain_outputs(ExecutionId run) {
    if (view_.one_sided(run)) return;
    const bool random = history_.states[run].random;
    if (random || is_downstream(run)) {
      const Explanation all = random ? Explanation::kRandom : Explanation::kDownstream;
      for (const TensorId tensor : view_.run(run).outputs) set(tensor, all);
      for (const TensorId tensor : view_.outputs(run)) set(tensor, all);
      return;
    }
    // A root may have outputs with no more error than its inputs explain.
    for (const ScoredOutput& output : model_.outputs(run)) {
      const Unjudged reason = why_not_noise(run, output);
      if (reason == Unjudged::kNone) {
        set(output.tensor, Explanation::kNoise);
      } else {
        leave(output.tensor, reason);
      }
    }
    // Outputs that differ, although all their consumers received equal values, have no score.
    for (const TensorId tensor : view_.run(run).outputs) {
      if (!view_.differs(tensor) || explained(tensor) != Explanation::kNone) continue;
      if (result_.unjudged[tensor] != Unjudged::kNone) continue;
      if (is_within_scale(tensor) || is_within(kMostGrowth, run, tensor)) {
        set(tensor, Explanation::kNoise);
      } else if (!view_.run(run).readers.empty()) {
        leave(tensor, Unjudged::kNotPassedOn);
      }
    }
  }

  [[nodiscard]] Unjudged why_not_noise(ExecutionId run, const ScoredOutput& output) const {
    if (may_flip(run, output)) return Unjudged::kNone;
    if (is_within_scale(output.tensor)) return Unjudged::kNone;
    switch (output.unjudged) {
      case Unjudged::kNone: break;
      case Unjudged::kCancels:
        if (output.measured <= kMostGrowth * output.expected || is_cancelled(output.tensor)) return Unjudged::kNone;
        if (reads_cancelled(run)) return Unjudged::kNone;
        return output.unjudged;
      case Unjudged::kAdaptive:
      case Unjudged::kKeptValue:
        if (is_within(kMostGrowth, run, output.tensor)) return Unjudged::kNone;
        return output.unjudged;
      default: return output.unjudged;
    }
    return output.score > model_.threshold() || output.is_never_noise() ? Unjudged::kUnlikely : Unjudged::kNone;
  }

  // True if rounding of the terms that cancel in it is all that a tensor has on both sides.
  [[nodiscard]] bool is_cancelled(TensorId tensor) const {
    if (!view_.cancels(tensor)) return false;
    const auto& error = view_.error(tensor);
    return error && error->relative <= kMostHiddenError;
  }

  // An optimizer divides what it reads by its own size, so that rounding becomes as large as any update.
  [[nodiscard]] bool reads_cancelled(ExecutionId run) const {
    const auto& inputs = view_.run(run).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) { return is_cancelled(input.tensor); });
  }

  // True if a tensor has at most `growth` times the largest error of the execution's inputs.
  [[nodiscard]] bool is_within(double growth, ExecutionId run, TensorId tensor) const {
    const auto& error = view_.error(tensor);
    if (!error || error->discrete) return false;
    double largest = model_.storage_rounding();
    for (const KnownInput& input : model_.inputs(run)) {
      if (input.tensor != tensor && !input.error.discrete) largest = std::max(largest, input.error.relative);
    }
    return error->relative <= std::min(growth * largest, kMostError);
  }

  // True if the tensor is within its tolerance once the loss scale is divided out.
  [[nodiscard]] bool is_within_scale(TensorId tensor) const {
    if (view_.loss_scale() == 1 || tensor == kNoId) return false;
    const auto& error = view_.error(tensor);
    if (!error || error->discrete || !view_.is_scaled(tensor)) return false;
    const Limits& limits = view_.diff(tensor).limits;
    return error->relative * error->rms <= limits.atol + limits.rtol * error->rms;
  }

  // True if integers or booleans may have flipped because the values that decide differ a little.
  [[nodiscard]] bool may_flip(ExecutionId run, const ScoredOutput& output) const {
    const bool decides = model_.gain(run).rule == GainRule::kChoose || view_.error(output.tensor)->discrete;
    return decides && !output.judged() && !output.exact_inputs && output.measured <= kShareOfFew;
  }

  void explain_inputs(ExecutionId run) {
    begin_step(run);
    std::vector<const RunInput*> entering;
    std::optional<RunInputs> gathered;  // once for all inputs of the run
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.tensor == kNoId || !view_.differs(input.tensor) || explained(input.tensor) != Explanation::kNone)
        continue;
      if (is_within_scale(input.tensor) || is_cancelled(input.tensor)) {
        set(input.tensor, Explanation::kNoise);
      } else if (input.producer != kNoId) {
        explain_made(run, input, gathered);
      } else if (const Explanation before = from_before(input); before != Explanation::kNone) {
        set(input.tensor, before);
      } else {
        entering.push_back(&input);
      }
    }
    if (!entering.empty()) explain_entering(run, entering);
    if (reach_.root_before(run) != kNoRoot || history_.states[run].alarmed) any_root_ = true;
  }

  void explain_made(ExecutionId run, const RunInput& input, std::optional<RunInputs>& gathered) {
    const Explanation passed_on = of_producer(input.producer);
    if (passed_on != Explanation::kNone) return set(input.tensor, passed_on);
    if (!view_.compared(input.produced)) {
      if (rewritten_.count(view_.run(input.producer).op) > 0) return set(input.tensor, Explanation::kInert);
      // An undumped output has about the error of the inputs.
      if (is_within(kChangedOnTheWay, input.producer, input.tensor)) return set(input.tensor, Explanation::kNoise);
      return leave(input.tensor, Unjudged::kUnknownSource);
    }
    if (view_.differs(input.produced)) return copy(input.produced, input.tensor);
    // The producer's output is within the tolerance. More error here is the rounding of a cast on the way.
    if (!gathered) gathered = inputs_of_run(view_, model_, history_, run);
    const auto& others = gathered->changed;
    const bool changed = std::find(others.begin(), others.end(), &input) != others.end();
    if (changed) return leave(input.tensor, Unjudged::kUnknownSource);
    set(input.tensor, Explanation::kNoise);
  }

  [[nodiscard]] Explanation of_producer(ExecutionId run) const {
    const RunState& state = history_.states[run];
    if (state.random) return Explanation::kRandom;
    const bool downstream =
        reach_.root_before(run) != kNoRoot || contains_root(run) || (state.downstream && any_root_before(run));
    return downstream ? Explanation::kDownstream : Explanation::kNone;
  }

  // The explanation of an input without a producer: by its last update, or by the executions before undumped operators.
  [[nodiscard]] Explanation from_before(const RunInput& input) const {
    Explanation result = input.updated_by == kNoId ? Explanation::kNone : of_producer(input.updated_by);
    for (const ExecutionId before : view_.graph().before_gap(input)) {
      const Explanation one = of_producer(before);
      if (one == Explanation::kRandom) return one;
      if (one != Explanation::kNone) result = one;
    }
    return result;
  }

  void begin_step(ExecutionId run) {
    const RunPlace& now = view_.place(run);
    const bool same_rank = run > 0 && view_.place(ExecutionId(run - 1)).rank == now.rank;
    if (!same_rank) any_root_ = any_root_before_ = false;
    if (same_rank && view_.place(ExecutionId(run - 1)).step != now.step) any_root_before_ = any_root_;
  }

  // Explains values that enter: by rounding to the format that the network stores, or by errors of the steps before.
  void explain_entering(ExecutionId run, const std::vector<const RunInput*>& entering) {
    const RunInputs inputs = inputs_of_run(view_, model_, history_, run);
    const auto is_among = [](const std::vector<const RunInput*>& list, const RunInput* input) {
      return std::find(list.begin(), list.end(), input) != list.end();
    };
    for (const RunInput* const input : entering) {
      const bool constant = input->from == InputEdge::From::kConstant;
      const bool off = constant ? std::find(inputs.constants.begin(), inputs.constants.end(), input->tensor) !=
                                      inputs.constants.end()
                                : is_among(inputs.entering, input);
      if (view_.is_later_step(run) && any_root_before_) {
        set(input->tensor, Explanation::kDownstream);
      } else if (is_downstream(run) && off && input->from == InputEdge::From::kParameter) {
        set(input->tensor, Explanation::kDownstream);
      } else if (off || has_large_error(input->tensor) ||
                 (view_.is_later_step(run) && inputs.downstream && !is_among(inputs.inherited, input))) {
        leave(input->tensor, Unjudged::kUnknownSource);
      } else {
        set(input->tensor, Explanation::kNoise);
      }
    }
  }

  // True for an error that no rounding leads to.
  [[nodiscard]] bool has_large_error(TensorId tensor) const {
    const auto& error = view_.error(tensor);
    return error && !error->discrete && !(error->relative <= kMostError);
  }

  // Explains one-sided operators from which operators of both sides receive only values that agree. If no consumer is
  // known, all tensors compared after them in the step must agree. An update in place is never inert.
  void explain_inert() {
    const ExecutionId count(view_.runs().size());
    std::vector<bool> inert(count), known(count);
    bool agrees = true, any = false;
    // Goes from the last execution to the first, so consumers come first. Edges that lead back count as a difference.
    for (ExecutionId run = count; run-- > 0;) {
      const ExecutionId after(run + 1);
      if (after < count &&
          (view_.place(run).rank != view_.place(after).rank || view_.place(run).step != view_.place(after).step)) {
        agrees = true;
        any = false;
      }
      if (!view_.one_sided(run)) {
        agrees = agrees && raises_no_doubt(run);
        any = any || view_.any_compared(view_.run(run).outputs);
        continue;
      }
      const std::vector<ExecutionId>& readers = view_.run(run).readers;
      inert[run] = !changes_in_place(run) && first_root_ == INT64_MAX &&
                   (readers.empty() ? any && agrees : std::all_of(readers.begin(), readers.end(), [&](auto reader) {
                     return view_.one_sided(reader) ? known[reader] && inert[reader] : agrees_at(reader, run);
                   }));
      known[run] = true;
    }
    for (ExecutionId run{0}; run < count; ++run) {
      if (!inert[run]) continue;
      for (const TensorId tensor : view_.run(run).outputs) set_unmatched(tensor);
      for (const RunInput& input : view_.run(run).inputs) set_unmatched(input.tensor);
    }
  }

  [[nodiscard]] bool changes_in_place(ExecutionId run) const {
    const std::vector<TensorId>& outputs = view_.run(run).outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](TensorId tensor) { return view_.graph().role(tensor) == TensorRole::kUpdated; });
  }

  // False if a one-sided operator may be the reason why a tensor of the execution differs.
  [[nodiscard]] bool raises_no_doubt(ExecutionId run) const {
    const auto doubtful = [&](TensorId tensor) {
      if (tensor == kNoId || !view_.differs(tensor) || explained(tensor) != Explanation::kNone) return false;
      return !may_be_rounding(result_.unjudged[tensor]);
    };
    const auto& inputs = view_.run(run).inputs;
    return std::none_of(inputs.begin(), inputs.end(), [&](const RunInput& one) { return doubtful(one.tensor); }) &&
           std::none_of(view_.run(run).outputs.begin(), view_.run(run).outputs.end(), doubtful);
  }

  void set_unmatched(TensorId tensor) {
    if (tensor != kNoId && view_.is(tensor, Verdict::kUnmatched) && !of_root_[tensor])
      result_.explained[tensor] = Explanation::kInert;
  }

  // True if all values that `reader`, which both sides have, gets from a one-sided execution are equal or noise.
  [[nodiscard]] bool agrees_at(ExecutionId reader, ExecutionId maker) const {
    bool any = false;
    for (const RunInput& input : view_.run(reader).inputs) {
      if (input.producer != maker && input.other_producer != maker) continue;
      if (!view_.compared(input.tensor)) return false;
      if (view_.differs(input.tensor) && explained(input.tensor) != Explanation::kNoise) return false;
      any = true;
    }
    return any;
  }

  // Files of parameters belong to no execution. They hold a value that an operator read, or left in place.
  void explain_parameters() {
    for (TensorId tensor{0}; tensor < view_.tensors(); ++tensor) {
      if (!view_.differs(tensor) || view_.graph().run_of(tensor) != kNoId) continue;
      const auto [name, folder] = view_.name_and_place(tensor);
      const std::vector<ExecutionId>& readers =
          view_.graph().readers_of_parameter(name, {.rank = folder.rank, .step = folder.step, .dump = folder.dump});
      const auto last =
          std::find_if(readers.rbegin(), readers.rend(), [&](ExecutionId run) { return !view_.one_sided(run); });
      if (last != readers.rend()) explain_parameter(*last, tensor);
    }
  }

  void explain_parameter(ExecutionId run, TensorId file) {
    if (const Explanation passed_on = of_producer(run); passed_on != Explanation::kNone) return set(file, passed_on);
    const std::vector<TensorId>& left = view_.run(run).outputs;
    const auto row = std::find_if(left.begin(), left.end(), [&](TensorId tensor) {
      return view_.differs(tensor) && view_.same_in_b(tensor, file) && view_.same_in_a(tensor, file);
    });
    if (row != left.end()) return copy(*row, file);
    if (is_within(kMostGrowth, run, file)) return set(file, Explanation::kNoise);
    leave(file, Unjudged::kKeptValue);
  }

  [[nodiscard]] bool is_rewritten(TensorId tensor) const {
    return rewritten_.count(view_.pairing().tensors[tensor].op) > 0;
  }

  // The inputs of an operator that is computed right lead to the difference: it came with them.
  void explain_computed(TensorId tensor) {
    if (explained(tensor) != Explanation::kNone || computed_.state(tensor) != ComputedState::kRight) return;
    if (!is_rewritten(tensor)) set(tensor, any_root_ ? Explanation::kDownstream : Explanation::kNoise);
  }

  void explain_rest(TensorId tensor) {
    Explanation& explanation = result_.explained[tensor];
    if (view_.alone(tensor) == Alone::kFused) explanation = Explanation::kFused;
    if (view_.diff(tensor).no_such_place) explanation = Explanation::kElsewhere;
    if (view_.differs(tensor) && view_.graph().role(tensor) == TensorRole::kUnwritten)
      explanation = Explanation::kUnwritten;
    if (is_rewritten(tensor) && explanation == Explanation::kNone && !of_root_[tensor])
      explanation = Explanation::kInert;
    if (explanation == Explanation::kNone && computed_.folded.count(tensor) > 0) explanation = Explanation::kFused;
    Unjudged& reason = result_.unjudged[tensor];
    const bool counts = (view_.differs(tensor) || view_.is(tensor, Verdict::kUnmatched)) && !of_root_[tensor];
    if (!counts || explanation != Explanation::kNone) {
      reason = Unjudged::kNone;
    } else if (view_.is(tensor, Verdict::kUnmatched)) {
      reason = Unjudged::kUnmatched;
    } else if (view_.is(tensor, Verdict::kNan)) {
      reason = Unjudged::kNotFinite;
    } else if (view_.is(tensor, Verdict::kShape) || view_.is(tensor, Verdict::kDtype)) {
      reason = Unjudged::kOtherShape;
    } else if (reason == Unjudged::kNone) {
      reason = Unjudged::kUnread;
    }
  }

  const RunView& view_;
  const NoiseModel& model_;
  const RunHistory& history_;
  const RootReach& reach_;
  const std::set<OperatorId>& rewritten_;
  const ComputedOutputs& computed_;
  Explanations result_;
  std::vector<bool> of_root_;                        // by tensor
  int64_t first_root_ = INT64_MAX;                   // the step of the first root
  bool any_root_ = false, any_root_before_ = false;  // on the rank so far; in the steps before
};

struct ExplanationWords {
  std::string_view name, text;
};
constexpr auto kExplanationWords = enum_table<Explanation, ExplanationWords>(
    ExplanationWords{},
    ExplanationWords{"noise", "its error is what the errors of the inputs and the arithmetic lead to"},
    ExplanationWords{"downstream", "it depends on a root"},
    ExplanationWords{"unwritten", "nothing reads it, and no kernel may have written it"},
    ExplanationWords{"random", "it depends on random numbers that were drawn differently"},
    ExplanationWords{"fused", "it lies inside operators that are one on the other side"},
    ExplanationWords{"inert", "it is written otherwise on one side, and what follows from it agrees"},
    ExplanationWords{"elsewhere", "the other side has no such rank or step"});

}  // namespace

std::string_view name_of(Explanation explanation) { return kExplanationWords[explanation].name; }
std::string_view text_of(Explanation explanation) { return kExplanationWords[explanation].text; }

Explanations explain_tensors(const RunView& view, const NoiseModel& model, const RunHistory& history,
                             const RootReach& reach, const DivergenceReport& report, const ComputedOutputs& computed) {
  return Explainer(view, model, history, reach, report, computed).run();
}

}  // namespace msdump
