#include "divergence/explanation.h"

#include <algorithm>
#include <array>

#include "divergence/divergence.h"
#include "divergence/model/constants.h"
#include "divergence/model/noise_model.h"
#include "divergence/root_reach.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {
namespace {

class Explainer {
 public:
  Explainer(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
            const std::vector<Divergence>& roots)
      : view_(view),
        model_(model),
        history_(history),
        reach_(reach),
        result_(view.tensors()),
        of_root_(view.tensors()) {
    for (const Divergence& root : roots) {
      mark(enters(root) ? root.inputs : root.outputs);
      for (const DivergencePlace& other : root.places) mark(other.outputs);
    }
  }

  std::vector<Explanation> run() {
    for (uint32_t run = 0; run < view_.runs().size(); ++run) {
      explain_inputs(run);
      for (const RunInput& input : view_.run(run).inputs) explain_scale(input.tensor);
      explain_outputs(run);
      for (const uint32_t output : view_.run(run).outputs) explain_scale(output);
    }
    for (uint32_t tensor = 0; tensor < view_.tensors(); ++tensor) {
      if (view_.alone(tensor) == Alone::kFused) result_[tensor] = Explanation::kFused;
      if (view_.differs(tensor) && view_.graph().role(tensor) == TensorRole::kUnwritten)
        result_[tensor] = Explanation::kUnwritten;
    }
    return std::move(result_);
  }

 private:
  void mark(const std::vector<uint32_t>& tensors) {
    for (const uint32_t tensor : tensors) of_root_[tensor] = true;
  }

  // Noise makes neither NaN nor another shape.
  void set(uint32_t tensor, Explanation explanation) {
    if (explanation == Explanation::kNoise && !view_.is(tensor, Verdict::kDiffer)) return;
    if (tensor != kNoTensor && view_.differs(tensor) && !of_root_[tensor]) result_[tensor] = explanation;
  }

  // Where nothing else is known: a tensor that the tolerance passes once the scale of the loss is divided out.
  void explain_scale(uint32_t tensor) {
    if (view_.loss_scale() == 1 || tensor == kNoTensor || result_[tensor] != Explanation::kNone) return;
    const auto& error = view_.error(tensor);
    if (!error || error->discrete || !view_.is_scaled(tensor)) return;
    const Limits& limits = view_.diff(tensor).limits;
    if (error->relative * error->rms <= limits.atol + limits.rtol * error->rms) set(tensor, Explanation::kNoise);
  }

  // Does a run depend on a root and is not one?
  [[nodiscard]] bool is_downstream(uint32_t run) const {
    if (reach_.root_at(run) != kNoRoot) return false;
    return reach_.root_before(run) != kNoRoot || (history_.states[run].downstream && !history_.states[run].alarmed) ||
           contains_root(run);
  }

  [[nodiscard]] bool contains_root(uint32_t module) const {
    const std::vector<uint32_t>& inside = view_.inside(module);
    return std::any_of(inside.begin(), inside.end(), [&](uint32_t run) { return reach_.root_before(run) != kNoRoot; });
  }

  void explain_outputs(uint32_t run) {
    if (view_.one_sided(run)) return;
    // A root may have outputs with no more error than its inputs explain.
    const std::span<const ScoredOutput> outputs = model_.outputs(run);
    const bool any = std::any_of(outputs.begin(), outputs.end(),
                                 [&](const ScoredOutput& output) { return view_.differs(output.tensor); });
    const bool known = any && inputs_are_explained(run);
    for (const ScoredOutput& output : outputs) {
      if (known && (output.judged ? output.score <= model_.threshold() : may_flip(run, output)))
        set(output.tensor, Explanation::kNoise);
    }
    const bool random = history_.states[run].random;
    if (!random && !is_downstream(run)) return;
    const Explanation all = random ? Explanation::kRandom : Explanation::kDownstream;
    for (const uint32_t tensor : view_.run(run).outputs) set(tensor, all);
    for (const uint32_t tensor : view_.outputs(run)) set(tensor, all);
  }

  // What follows from an error that nothing explains is not explained either.
  [[nodiscard]] bool inputs_are_explained(uint32_t run) const {
    const std::vector<KnownInput> inputs = model_.inputs(run);
    return std::none_of(inputs.begin(), inputs.end(), [&](const KnownInput& input) {
      return view_.differs(input.tensor) && result_[input.tensor] == Explanation::kNone;
    });
  }

  // Indices and truth values flip where the values that decide differ by little.
  [[nodiscard]] bool may_flip(uint32_t run, const ScoredOutput& output) const {
    const bool decides = model_.gain(run).rule == GainRule::kChoose || view_.error(output.tensor)->discrete;
    return decides && !output.exact_inputs && output.measured <= kMostFlips;
  }

  void explain_inputs(uint32_t run) {
    begin_step(run);
    std::vector<const RunInput*> entering;
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.tensor == kNoTensor || !view_.differs(input.tensor) || result_[input.tensor] != Explanation::kNone)
        continue;
      if (input.made_by == kNoRun) {
        const Explanation before = from_before(input);
        set(input.tensor, before);
        if (before == Explanation::kNone) entering.push_back(&input);
      } else {
        set(input.tensor, of_made(input));
      }
    }
    if (!entering.empty()) explain_entering(run, entering);
    if (reach_.root_before(run) != kNoRoot || history_.states[run].alarmed) any_root_ = true;
  }

  [[nodiscard]] Explanation of_made(const RunInput& input) const {
    const Explanation passed_on = of_producer(input.made_by);
    if (passed_on != Explanation::kNone) return passed_on;
    return view_.compared(input.made_as) ? result_[input.made_as] : Explanation::kNone;
  }

  [[nodiscard]] Explanation of_producer(uint32_t run) const {
    const RunState& state = history_.states[run];
    if (state.random) return Explanation::kRandom;
    const bool downstream = reach_.root_before(run) != kNoRoot || state.downstream || contains_root(run);
    return downstream ? Explanation::kDownstream : Explanation::kNone;
  }

  // Of an input that no run made: what came before the gap or updated it.
  [[nodiscard]] Explanation from_before(const RunInput& input) const {
    Explanation result = input.updated_by == kNoRun ? Explanation::kNone : of_producer(input.updated_by);
    for (const uint32_t before : view_.graph().before_gap(input)) {
      const Explanation one = of_producer(before);
      if (one == Explanation::kRandom) return one;
      if (one != Explanation::kNone) result = one;
    }
    return result;
  }

  void begin_step(uint32_t run) {
    const RunPlace& now = view_.place(run);
    const bool same_rank = run > 0 && view_.place(run - 1).rank == now.rank;
    if (!same_rank) any_root_ = any_root_before_ = false;
    if (same_rank && view_.place(run - 1).step != now.step) any_root_before_ = any_root_;
  }

  // Rounding to the format that the network stores, or what the steps before have left.
  void explain_entering(uint32_t run, const std::vector<const RunInput*>& entering) {
    if (view_.is_later_step(run)) {
      for (const RunInput* const input : entering)
        set(input->tensor, any_root_before_ ? Explanation::kDownstream : Explanation::kNoise);
      return;
    }
    const RunInputs inputs = inputs_of_run(view_, model_, history_, run);
    const auto is_off = [&](const RunInput* input) {
      return input->from == InputEdge::From::kConstant
                 ? std::find(inputs.constants.begin(), inputs.constants.end(), input->tensor) != inputs.constants.end()
                 : std::find(inputs.entering.begin(), inputs.entering.end(), input) != inputs.entering.end();
    };
    for (const RunInput* const input : entering) {
      if (!is_off(input)) {
        set(input->tensor, Explanation::kNoise);
      } else if (is_downstream(run) && input->from == InputEdge::From::kParameter) {
        set(input->tensor, Explanation::kDownstream);
      }
    }
  }

  const RunView& view_;
  const NoiseModel& model_;
  const RunHistory& history_;
  const RootReach& reach_;
  std::vector<Explanation> result_;
  std::vector<bool> of_root_;                        // by tensor
  bool any_root_ = false, any_root_before_ = false;  // on the rank so far; in the steps before
};

}  // namespace

std::string_view name_of(Explanation explanation) {
  static constexpr std::array<std::string_view, 6> kNames = {"", "noise", "downstream", "unwritten", "random", "fused"};
  return kNames[static_cast<size_t>(explanation)];
}

std::vector<Explanation> explain_tensors(const RunView& view, const NoiseModel& model, const RunHistory& history,
                                         const RootReach& reach, const std::vector<Divergence>& roots) {
  return Explainer(view, model, history, reach, roots).run();
}

}  // namespace msdump
