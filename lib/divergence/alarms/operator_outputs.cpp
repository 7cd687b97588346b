#include "divergence/alarms/operator_outputs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "divergence/cuts/made_not_finite.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// Of a module the run inside of it that stands out most, where one does at all; of fused operators the likeliest.
uint32_t named_for(const BlameState& state, uint32_t run) {
  uint32_t named = kNoRun;
  double most = kStandsOut;
  for (const uint32_t inner : state.view.inside(run)) {
    for (const ScoredOutput& output : state.model.outputs(inner)) {
      if (!output.judged() || output.score <= most) continue;
      most = output.score;
      named = inner;
    }
  }
  // Of cuts, calls that one side alone has may have made its inputs: see find_chains().
  if (named == kNoRun && state.view.of_cuts()) return run;
  return named == kNoRun ? state.model.likeliest_within(run) : named;
}

// Indices and truth values do not round: with equal inputs they are equal. Where the runs are cut differently, calls of one
// side alone may have made an input; nearly all agree then unless these are other numbers.
void add_discrete(const BlameState& state, const RunInputs& inputs, const std::vector<uint32_t>& outputs,
                  std::vector<uint32_t>& left) {
  if (!inputs.all_same || inputs.evidence.empty()) return;
  for (const uint32_t tensor : outputs) {
    if (inputs.unknown && (inputs.downstream || !state.view.layout_alike(tensor))) continue;
    const auto error = state.view.error(tensor);
    if (error && error->discrete && error->relative > 0) left.push_back(tensor);
  }
}

// On one side, does an operator that may drop elements pass all of them on?
bool passes_in(const BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs,
               bool candidate) {
  if (inputs.evidence.empty() || outputs.empty() || state.view.is_backward(run)) return false;
  const uint32_t in = inputs.evidence.front(), out = outputs.front();
  if (!state.view.diff(in).metrics.max_a || !state.view.diff(in).metrics.max_b) return false;
  return candidate ? state.view.same_in_a(in, out) : state.view.same_in_b(in, out);
}

}  // namespace

bool stands_out(const BlameState& state, const ScoredOutput& output, const RunInputs& inputs) {
  if (!output.judged()) return false;
  if (state.view.of_cuts() && (inputs.downstream || state.any_before)) {
    if (!state.view.layout_sure(output.tensor)) return false;
    // What the ranks put in shows whether a collective is wrong by itself.
    if (state.view.is_collective(output.run)) return false;
  }
  if (output.beyond_arithmetic && !inputs.downstream) return true;
  // What it is expected to have says nothing of the alarm that its input shows.
  if (inputs.elevated && output.past_operators && !inputs.all_same) return false;
  double score = output.score;
  if (inputs.elevated && !output.exact_inputs) {
    const double spread = output.siblings.spread;
    score *= spread / hypotenuse(spread, kSpreadOfFaults);
  }
  return score > state.model.threshold();
}

void judge_shape(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  std::vector<uint32_t> other;
  for (const uint32_t tensor : outputs) {
    if (state.view.is(tensor, Verdict::kShape) || state.view.is(tensor, Verdict::kDtype)) other.push_back(tensor);
  }
  if (other.empty() || inputs.other_shape || inputs.downstream || inputs.unknown) return;
  Root& root = state.roots.add(run, DivergenceKind::kShape, inputs, other);
  root.divergence.reason = "its inputs have the same shapes, its outputs have not";
}

void judge_outputs(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  if (state.view.run(run).inputs.empty() && state.view.is_backward(run)) {
    // Gradients of parameters, made by a backward call that may not have been dumped.
    const std::vector<KnownInput> known = state.model.inputs(run);
    if (std::all_of(known.begin(), known.end(), [](const KnownInput& input) { return input.of_forward; })) return;
  }
  // Elements that are finite on both sides come from others than those that are not.
  if (inputs.other_shape || inputs.gained_nan || inputs.gained_inf) return;
  std::vector<uint32_t> left;
  const ScoredOutput* most = nullptr;
  for (const ScoredOutput& output : state.model.outputs(run)) {
    if (!stands_out(state, output, inputs)) continue;
    left.push_back(output.tensor);
    if (most == nullptr || output.score > most->score) most = &output;
  }
  if (left.empty()) add_discrete(state, inputs, outputs, left);
  if (left.empty()) return;
  Root& root = state.roots.add(named_for(state, run), state.roots.kind_of(left), inputs, left);
  root.uncertain_source = inputs.unknown_source;
  if (most != nullptr) state.roots.set_score(root, *most);
  root.divergence.reason = inputs.evidence.empty()              ? "its outputs differ; its inputs were not compared"
                           : inputs.all_same && !inputs.unknown ? "its inputs are equal bit for bit, its outputs differ"
                                                                : "its outputs differ more than its inputs explain";
}

bool draws_differently(const BlameState& state, uint32_t run, const RunInputs& inputs,
                       const std::vector<uint32_t>& outputs) {
  if (state.model.gain(run).rule != GainRule::kRandom || inputs.other_shape) return false;
  return state.view.any_differs(outputs) &&
         !(passes_in(state, run, inputs, outputs, true) && passes_in(state, run, inputs, outputs, false));
}

bool judge_one_sided_draw(BlameState& state, uint32_t run, const RunInputs& inputs,
                          const std::vector<uint32_t>& outputs) {
  const bool a_passes = passes_in(state, run, inputs, outputs, true),
             b_passes = passes_in(state, run, inputs, outputs, false);
  if (a_passes == b_passes) return false;
  Root& root = state.roots.add(run, DivergenceKind::kValue, inputs, outputs);
  root.divergence.reason = fmt::format("only the {} draws random numbers here; the other passes its input on",
                                       a_passes ? "reference" : "candidate");
  return true;
}

void judge_nan(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  if (inputs.unknown || inputs.downstream_of_nan) return;
  // NaN may be made of the infinities of a call that the candidate alone has.
  if (state.not_finite_before && inputs.gained_inf) return;
  const bool makes_nan = !inputs.gained_nan && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
    return state.view.gained_nan(tensor);
  });
  const bool makes_inf = !inputs.gained_inf && std::any_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
    return state.view.is(tensor, Verdict::kNan);
  });
  if (!makes_nan && !makes_inf) return;
  // An overflow of values that were too large before: because of a root, or of the scale of the loss that a root sets.
  const bool scaled = inputs.downstream && std::any_of(inputs.evidence.begin(), inputs.evidence.end(),
                                                       [&](uint32_t tensor) { return state.view.is_scaled(tensor); });
  if (!makes_nan && (inputs.elevated || scaled)) return;
  Root& root = state.roots.add(run, DivergenceKind::kNan, inputs, outputs);
  root.lower(kOfDownstream);
  root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference lacks"
                                     : "one side alone has infinities or NaN in its outputs, and not in its inputs";
}

void judge_entering_nan(BlameState& state, uint32_t run, const RunInputs& inputs) {
  if (state.not_finite_before || inputs.downstream_of_nan) return;
  const uint32_t maker = maker_of_not_finite(state.view, run);
  if (maker == kNoRun || !state.roots.report_once(maker, run)) return;
  state.not_finite_before = true;
  std::vector<uint32_t> made = state.view.run(maker).outputs;
  std::erase_if(made, [&](uint32_t output) { return state.view.ranks_not_finite(output).empty(); });
  Root& root = state.roots.add(maker, DivergenceKind::kNan, inputs, std::move(made));
  root.divergence.reader = run;
  root.lower(kOfDownstream);
  root.divergence.reason = "only the candidate has it: NaN or infinities come out of it, and none went in";
  state.history.states[run].downstream_of_nan = true;
}

}  // namespace msdump
