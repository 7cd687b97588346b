#include "divergence/alarms.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "compare/limits.h"
#include "compare/pair/precision.h"
#include "divergence/model/constants.h"
#include "divergence/runs/run_view.h"

namespace msdump {
namespace {

// Finds the source of NaN and infinities if the sides are sharded differently. Calls that only the candidate has lie
// between the tensors that were compared, and the finite elements of their results need not show a difference.

const RunInput* input_not_finite(const RunView& view, ExecutionId run) {
  const std::vector<RunInput>& inputs = view.run(run).inputs;
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const RunInput& input) { return !view.ranks_not_finite(input.tensor).empty(); });
  return found == inputs.end() ? nullptr : &*found;
}

bool makes_not_finite(const RunView& view, ExecutionId run) {
  const std::vector<TensorId>& outputs = view.run(run).outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](TensorId output) { return !view.ranks_not_finite(output).empty(); });
}

// The forward call of `run` if that produced NaN or infinities from finite inputs already; else `run`.
ExecutionId forward_maker(const RunView& view, ExecutionId run) {
  for (const ExecutionId forward : view.forward_calls_of(run)) {
    if (makes_not_finite(view, forward) && input_not_finite(view, forward) == nullptr) return forward;
  }
  return run;
}

// The call of the candidate alone that produced, from finite inputs, the NaN or infinities in an input of `run`. kNoId
// if no input has any that the reference lacks, or if they do not lead back to such a call.
ExecutionId maker_of_not_finite(const RunView& view, ExecutionId run) {
  for (const RunInput* input = input_not_finite(view, run); input != nullptr;) {
    const ExecutionId maker = input->other_producer != kNoId ? input->other_producer : input->producer;
    // Producers are earlier, so the search ends.
    if (maker >= run || !view.of_candidate_only(maker)) return kNoId;
    run = maker;
    input = input_not_finite(view, run);
    if (input == nullptr && !view.run(run).inputs.empty() && makes_not_finite(view, run))
      return forward_maker(view, run);
  }
  return kNoId;
}

}  // namespace

BlameState::BlameState(const RunView& compared, const NoiseModel& expected, const std::set<OperatorId>& calls)
    : view(compared),
      model(expected),
      asked_otherwise(calls),
      one_sided(compared),
      roots(compared, one_sided, history) {
  history.states.resize(view.runs().size());
}

void BlameState::begin(ExecutionId run) {
  begin_step(run);
  // A one-sided execution may belong elsewhere in the step.
  if (!view.one_sided(run)) backward = backward || view.is_backward(run);
}

void BlameState::begin_step(ExecutionId run) {
  const RunPlace& now = view.place(run);
  if (run > 0 && now.is_beside(place)) return;
  const bool same_rank = run > 0 && now.rank == place.rank && now.dump == place.dump;
  alarmed_before = same_rank && (alarmed_before || alarmed[0] || alarmed[1]);
  alarmed = {};
  any_before = backward = false;
  history.error_before = same_rank ? std::max(history.error_before, history.largest_error) : view.error_at_start(now);
  history.largest_error = 0;
  history.any_chosen = false;
  first_of_step = run;
  place = now;
  constants_.clear();
  for (; run < view.runs().size() && view.place(run).is_beside(now); ++run) {
    for (const RunInput& input : view.run(run).inputs) {
      if (input.from != InputEdge::From::kConstant || !view.differs(input.tensor)) continue;
      const kernels::PairMetrics metrics = view.diff(input.tensor).metrics;
      if (metrics.max_a && metrics.max_b) constants_.emplace(metrics.count, *metrics.max_a, *metrics.max_b);
    }
  }
}

void BlameState::note_alarm(ExecutionId run) {
  backward = backward || view.is_backward(run);
  history.states[run].alarmed = history.states[run].downstream = true;
  any_before = alarmed[backward ? 1 : 0] = true;
}

ExecutionId BlameState::one_sided_before(ExecutionId run, ExecutionId first, const RunInput& input) const {
  if (!view.is_sharded()) return one_sided.between(first, run);
  for (const ExecutionId maker : {input.other_producer, input.producer}) {
    if (maker != kNoId && view.one_sided(maker)) return maker;
  }
  return kNoId;
}

void BlameState::add_cast(ExecutionId cast, ExecutionId reader, const RunInputs& inputs, TensorId tensor) {
  if (view.coarser_throughout() || !roots.report_once(cast, reader)) return;
  Root& root = roots.add(cast, RootRule::kCast, DivergenceKind::kValue, inputs, {tensor});
  root.divergence.reader = reader;
  root.uncertain_source = view.is_gradient(cast);
  history.states[reader].downstream = true;
  const TensorDiff& in = view.diff(tensor);
  root.divergence.reason =
      cast == reader ? fmt::format("it reads {} where the reference has {}", msdump::name_of(in.dtype_a),
                                   msdump::name_of(in.dtype_b))
                     : fmt::format("only the candidate has this cast to a coarser dtype; {} reads what it leaves",
                                   view.name(reader));
}

namespace {

using From = InputEdge::From;

// "Module.fc.Linear.forward:weight" of "Module.fc.Linear.forward.1:weight": the calls of a module have its parameters in common. Any
// other name as it is.
std::string without_call(std::string_view parameter) {
  const size_t slot = parameter.rfind(':');
  const size_t number = parameter.rfind('.', slot);
  if (slot == std::string_view::npos || number == std::string_view::npos) return std::string(parameter);
  const std::string_view call = parameter.substr(0, number);
  return call.ends_with(".forward") ? fmt::format("{}{}", call, parameter.substr(slot)) : std::string(parameter);
}

}  // namespace

// Every step has its own network inputs. The weights of later steps, and of later calls of a module, derive from those of the first.
EnteringValues::ParameterKey EnteringValues::key_of(ExecutionId run, const RunInput& input) const {
  const RunPlace& place = state_.view.place(run);
  return {{place.rank, input.is_weight ? std::nullopt : place.step, place.dump}, without_call(input.parameter)};
}

void EnteringValues::note_parameters(ExecutionId run, const RunInputs& inputs) {
  for (const RunInput& input : state_.view.run(run).inputs) {
    if (input.from != From::kParameter || input.producer != kNoId || !state_.view.compared(input.tensor)) continue;
    const bool off = std::any_of(inputs.entering.begin(), inputs.entering.end(),
                                 [&](const RunInput* other) { return other == &input; });
    const ParameterKey key = key_of(run, input);
    if (!off && !reported_.contains(key)) agreed_.insert(key);
  }
}

void EnteringValues::judge(ExecutionId run, const RunInputs& inputs) {
  for (const RunInput* const input : inputs.entering) {
    // The parameter agreed at its first reader. Since then it was updated, or it is read in a coarser dtype.
    if (input->from == From::kParameter && agreed_.contains(key_of(run, *input))) {
      const TensorDiff& diff = state_.view.diff(input->tensor);
      if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b))
        return state_.add_cast(run, run, inputs, input->tensor);
      continue;
    }
    const TensorId tensor = state_.view.compared(input->tensor) ? input->tensor : input->produced;
    if (input->from == From::kParameter) {
      add_parameter(run, inputs, *input, tensor);
    } else if (state_.any_before) {
      state_.history.states[run].downstream = true;  // of what a root before it reads, too
    } else if (!inputs.downstream && (!state_.view.all_agree(run) || state_.view.is(tensor, Verdict::kShape))) {
      return judge_unknown_source(run, inputs, *input, tensor);  // other inputs share the source
    }
  }
}

void EnteringValues::add_parameter(ExecutionId run, const RunInputs& inputs, const RunInput& input, TensorId tensor) {
  if (!reported_.insert(key_of(run, input)).second) {
    state_.history.states[run].downstream = true;  // of the root at its first reader
    return;
  }
  Root& root = state_.roots.add_entering(
      run, RootRule::kParameter, input.is_weight ? DivergenceKind::kParameter : DivergenceKind::kInput, inputs, tensor);
  root.divergence.parameter = input.parameter;
  root.divergence.reason = "its value differs already where it is first read";
}

// Adds a root of kind kParameter if the reference has a module parameter with this value, else of kInput.
Root& EnteringValues::add_by_value(ExecutionId run, const RunInputs& inputs, TensorId tensor) {
  std::string parameter = state_.view.parameter_like(tensor);
  const DivergenceKind kind = parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter;
  Root& root = state_.roots.add_entering(run, RootRule::kSource, kind, inputs, tensor);
  root.divergence.parameter = std::move(parameter);
  return root;
}

void EnteringValues::judge_carried(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
  const bool wrong = state_.view.lacks_input(run) ? !state_.view.heals(run) : state_.view.any_differs(outputs);
  if (!wrong) return;
  const TensorId tensor = inputs.carried.front()->tensor;
  Root& root = add_by_value(run, inputs, tensor);
  root.divergence.reason = fmt::format(
      "its input {} differs by more than anything before it in this step or in those before", state_.view.slot(tensor));
}

void EnteringValues::judge_unknown_source(ExecutionId run, const RunInputs& inputs, const RunInput& input,
                                          TensorId tensor) {
  if (state_.view.other_framework() || (of_last_pass_ && state_.view.is_backward(run))) return;
  const ExecutionId other = state_.one_sided_before(run, state_.first_of_step, input);
  if (other != kNoId) {
    (void)state_.roots.add_one_sided(other, run, inputs);
    return;
  }
  Root& root = add_by_value(run, inputs, tensor);
  root.uncertain_source = true;
  root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", state_.view.slot(tensor));
}

bool BlameState::is_exchanged(TensorId constant) const {
  const kernels::PairMetrics metrics = view.diff(constant).metrics;
  return metrics.max_a && metrics.max_b && constants_.count({metrics.count, *metrics.max_b, *metrics.max_a}) > 0;
}

void judge_constants(BlameState& state, ExecutionId run, const RunInputs& inputs,
                     const std::vector<TensorId>& outputs) {
  const bool all_same = !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
    return state.view.is(tensor, Verdict::kSame);
  });
  const TensorId tensor = inputs.constants.front();
  const bool of_value = state.view.is(tensor, Verdict::kDiffer) || state.view.is(tensor, Verdict::kClose);
  if (inputs.downstream || all_same || (!of_value && !state.view.any_differs(outputs))) return;
  if (state.is_exchanged(tensor)) return;
  Root& root = state.roots.add(run, RootRule::kConstant, DivergenceKind::kValue, inputs, outputs);
  root.uncertain_source = state.view.is_gradient(run);
  const kernels::PairMetrics metrics = state.view.diff(tensor).metrics;
  root.divergence.reason = fmt::format("its constant input {} differs", state.view.slot(tensor));
  if (metrics.count == 1 && metrics.max_a && metrics.max_b)
    root.divergence.reason += fmt::format(": {:g} against {:g}", *metrics.max_a, *metrics.max_b);
}

namespace {

// The execution to name: inside a module the one that stands out most, if any does; of fused operators the likeliest. Another argument
// explains an output by itself.
ExecutionId named_for(const BlameState& state, ExecutionId run) {
  if (state.asked_otherwise.contains(state.view.run(run).op)) return run;
  ExecutionId named;
  double most = kStandsOut;
  for (const ExecutionId inner : state.view.inside(run)) {
    for (const ScoredOutput& output : state.model.outputs(inner)) {
      if (!output.judged() || output.score <= most) continue;
      most = output.score;
      named = inner;
    }
  }
  // Calls that only one side has may have written its inputs: see find_chains().
  if (named == kNoId && state.view.is_sharded()) return run;
  return named == kNoId ? state.model.likeliest_within(run) : named;
}

// Integers and booleans do not round, so equal inputs give equal outputs.
void add_discrete(const BlameState& state, const RunInputs& inputs, const std::vector<TensorId>& outputs,
                  std::vector<TensorId>& left) {
  if (!inputs.all_same || inputs.evidence.empty() || inputs.unknown) return;
  for (const TensorId tensor : outputs) {
    const auto error = state.view.error(tensor);
    if (error && error->discrete && error->relative > 0) left.push_back(tensor);
  }
}

// True if, on one side, an operator that may drop elements passes all of them on.
bool passes_in(const BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs,
               bool candidate) {
  if (inputs.evidence.empty() || outputs.empty() || state.view.is_backward(run)) return false;
  const TensorId in = inputs.evidence.front(), out = outputs.front();
  if (!state.view.diff(in).metrics->max_a || !state.view.diff(in).metrics->max_b) return false;
  return candidate ? state.view.same_in_a(in, out) : state.view.same_in_b(in, out);
}

}  // namespace

bool stands_out(const BlameState& state, const ScoredOutput& output, const RunInputs& inputs) {
  if (!output.judged()) return false;
  if (state.view.is_sharded() && (inputs.downstream || state.any_before)) {
    if (!state.view.layout_sure(output.tensor)) return false;
    // The values that the ranks sent show whether a collective is wrong by itself.
    if (state.view.is_collective(output.run)) return false;
  }
  if (!inputs.downstream) return output.beyond_arithmetic || output.score > state.model.threshold();
  // An error that earlier steps left is not random: its gains spread further.
  const double spread = output.siblings.spread;
  return output.score * spread / hypotenuse(spread, kFactorOfTwo) > state.model.threshold();
}

void judge_shape(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
  std::vector<TensorId> other;
  for (const TensorId tensor : outputs) {
    if (state.view.is(tensor, Verdict::kShape) || state.view.is(tensor, Verdict::kDtype)) other.push_back(tensor);
  }
  if (other.empty() || inputs.other_shape || inputs.downstream || inputs.unknown || inputs.chosen) return;
  Root& root = state.roots.add(run, RootRule::kShape, DivergenceKind::kShape, inputs, other);
  root.divergence.reason = "its inputs have the same shapes, its outputs have not";
}

void judge_outputs(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
  if (state.view.run(run).inputs.empty() && state.view.is_backward(run)) {
    // The backward call that wrote these parameter gradients may not have been dumped.
    const std::vector<KnownInput> known = state.model.inputs(run);
    if (std::all_of(known.begin(), known.end(), [](const KnownInput& input) { return input.of_forward; })) return;
  }
  // A list of which one side lacks some is compared with the wrong ones, and was left out.
  const bool by_values = state.view.graph().flow() == FlowKind::kValues;
  if (by_values && inputs.evidence.empty() && !state.view.run(run).inputs.empty()) return;
  // Metrics cover elements that are finite on both sides, and those do not come from such inputs.
  if (inputs.other_shape || inputs.gained_nan || inputs.gained_inf) return;
  std::vector<TensorId> left;
  const ScoredOutput* most = nullptr;
  for (const ScoredOutput& output : state.model.outputs(run)) {
    if (!stands_out(state, output, inputs)) continue;
    left.push_back(output.tensor);
    if (most == nullptr || output.score > most->score) most = &output;
  }
  if (left.empty()) add_discrete(state, inputs, outputs, left);
  if (left.empty()) return;
  Root& root = state.roots.add(named_for(state, run), inputs.are_equal() ? RootRule::kEqualInputs : RootRule::kExcess,
                               state.roots.kind_of(left), inputs, left);
  root.uncertain_source = inputs.unknown_source;
  if (most != nullptr) root.divergence.score = score_of(*most);
  root.divergence.reason = inputs.evidence.empty() ? "its outputs differ; its inputs were not compared"
                           : inputs.are_equal()    ? "its inputs are equal bit for bit, its outputs differ"
                                                   : "its outputs differ more than its inputs explain";
}

bool draws_differently(const BlameState& state, ExecutionId run, const RunInputs& inputs,
                       const std::vector<TensorId>& outputs) {
  if (state.model.gain(run).rule != GainRule::kRandom || inputs.other_shape) return false;
  return state.view.any_differs(outputs) &&
         !(passes_in(state, run, inputs, outputs, true) && passes_in(state, run, inputs, outputs, false));
}

bool judge_one_sided_draw(BlameState& state, ExecutionId run, const RunInputs& inputs,
                          const std::vector<TensorId>& outputs) {
  const bool a_passes = passes_in(state, run, inputs, outputs, true),
             b_passes = passes_in(state, run, inputs, outputs, false);
  if (a_passes == b_passes) return false;
  Root& root = state.roots.add(run, RootRule::kDraw, DivergenceKind::kValue, inputs, outputs);
  root.divergence.reason = fmt::format("only the {} draws random numbers here; the other passes its input on",
                                       a_passes ? "reference" : "candidate");
  return true;
}

void judge_nan(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
  if (inputs.unknown || inputs.downstream_of_nan) return;
  const bool makes_nan = !inputs.gained_nan && std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
    return state.view.gained_nan(tensor);
  });
  const bool makes_inf = !inputs.gained_inf && std::any_of(outputs.begin(), outputs.end(), [&](TensorId tensor) {
    return state.view.is(tensor, Verdict::kNan);
  });
  if (!makes_nan && !makes_inf) return;
  Root& root = state.roots.add(run, RootRule::kNan, DivergenceKind::kNan, inputs, outputs);
  root.divergence.reason = makes_nan ? "NaN comes out of it, and none went in that the reference lacks"
                                     : "one side alone has infinities or NaN in its outputs, and not in its inputs";
}

void judge_entering_nan(BlameState& state, ExecutionId run, const RunInputs& inputs) {
  if (state.not_finite_before || inputs.downstream_of_nan) return;
  const ExecutionId maker = maker_of_not_finite(state.view, run);
  if (maker == kNoId || !state.roots.report_once(maker, run)) return;
  state.not_finite_before = true;
  std::vector<TensorId> made = state.view.run(maker).outputs;
  std::erase_if(made, [&](TensorId output) { return state.view.ranks_not_finite(output).empty(); });
  Root& root = state.roots.add(maker, RootRule::kNan, DivergenceKind::kNan, inputs, std::move(made));
  root.divergence.reader = run;
  root.divergence.reason = "only the candidate has it: NaN or infinities come out of it, and none went in";
  state.history.states[run].downstream_of_nan = true;
}

namespace {

// True if a one-sided producer wrote another value. An operator that chooses may still return the same.
bool is_another_value(const BlameState& state, const RunInput& input) {
  const auto error = state.view.error(input.tensor);
  return error && state.view.one_sided(input.producer) && error->relative > kMostError;
}

// True if, in the reference, an output of `reader` has the value of the input.
bool reader_writes(const BlameState& state, ExecutionId reader, const RunInput& input) {
  const auto& outputs = state.view.run(reader).outputs;
  return state.view.diff(input.tensor).metrics->max_b &&
         std::any_of(outputs.begin(), outputs.end(),
                     [&](TensorId tensor) { return state.view.same_in_b(input.tensor, tensor); });
}

// True if an alarmed execution, which read the same output before, may have written the input.
bool alarmed_reader_writes(BlameState& state, ExecutionId run, const RunInput& input) {
  // Only the last of them are looked at: a value may have thousands of consumers, each of which asks.
  const std::vector<ExecutionId>& readers = state.view.run(input.producer).readers;  // ascending
  const auto end = std::lower_bound(readers.begin(), readers.end(), run);
  const auto first = end - std::min(end - readers.begin(), std::ptrdiff_t{kMostTried});
  if (first != readers.begin())
    state.limits.insert(
        {"readers_of_a_value", kMostTried, "of a value with more readers, the last ones are looked at"});
  return std::any_of(first, end, [&](ExecutionId reader) {
    return state.history.states[reader].alarmed && reader_writes(state, reader, input);
  });
}

// Text for the reason. A hook of the script that runs in the backward pass is recorded as a forward call.
std::string happened_between(const BlameState& state, ExecutionId first, ExecutionId end) {
  const ExecutionId run = state.one_sided.first_of_candidate(first, end);
  if (run != kNoId) return fmt::format("{}, which only the candidate has,", state.view.name(run));
  return "something between them that was not dumped";
}

}  // namespace

bool matters(const BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs) {
  if (state.view.heals(run)) return false;
  // The model counts what these producers wrote as the error of the input, so no output stands out by it.
  const ExecutionId maker = inputs.changed.front()->producer;
  const bool is_alone = state.view.one_sided(maker), agrees = state.view.all_agree(run);
  if (is_alone && !agrees) return true;
  const std::span<const ScoredOutput> scored = state.model.outputs(run);
  const bool any =
      std::any_of(scored.begin(), scored.end(), [](const ScoredOutput& output) { return output.judged(); });
  if (!any) return !state.view.all_agree(run) || outputs.empty() || is_another_value(state, *inputs.changed.front());
  return std::any_of(scored.begin(), scored.end(),
                     [&](const ScoredOutput& output) { return stands_out(state, output, inputs); });
}

bool judge_changed(BlameState& state, ExecutionId run, const RunInputs& inputs) {
  if (state.view.other_framework()) return false;
  const bool shown = inputs.handed_on != nullptr;
  const RunInput& input = shown ? *inputs.handed_on : *inputs.changed.front();
  const ExecutionId first(input.producer + (state.view.one_sided(input.producer) ? 0 : 1));
  // Calls that only one side has are normal if the sides are sharded differently.
  if (inputs.downstream && state.view.one_sided(input.producer)) return false;
  if (const ExecutionId other = state.one_sided_before(run, first, input); other != kNoId) {
    // Calls of one side in a row, of which the first is a root, leave one value of another shape.
    if (state.any_before && state.view.is(input.tensor, Verdict::kShape)) return true;
    if (state.one_sided.turns_coarser(other)) {
      state.add_cast(other, run, inputs, input.tensor);
    } else {
      (void)state.roots.add_one_sided(other, run, inputs);
    }
    return true;
  }
  const TensorDiff& diff = state.view.diff(input.tensor);
  if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b)) {
    state.add_cast(run, run, inputs, input.tensor);
    return true;
  }
  if (alarmed_reader_writes(state, run, input)) return true;
  if (state.roots.is_changed_after(input.producer)) return true;
  Root& root = state.roots.add_changed(run, inputs, input);
  if (shown) {
    root.divergence.rule = RootRule::kHandedOn;
    root.divergence.written = input.produced;
    root.divergence.reason = fmt::format("its input {} is not what {} wrote", state.view.slot(input.tensor),
                                         state.view.name(input.producer));
  } else {
    root.divergence.reason =
        fmt::format("its input {} has more error than {}, which wrote it: {} changes it", state.view.slot(input.tensor),
                    state.view.name(input.producer), happened_between(state, first, run));
  }
  const bool known = !state.view.is_sharded() && state.one_sided.first_of_candidate(first, run) != kNoId;
  if (!root.exchanges && !known) root.divergence.after = input.producer;
  return true;
}

}  // namespace msdump
