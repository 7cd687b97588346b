#include "divergence/alarms/entering_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compare/pair/precision.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

using From = InputEdge::From;

}  // namespace

// Every step has network inputs of its own; the weights of later steps are what the first has made of them.
EnteringValues::ParameterKey EnteringValues::key_of(uint32_t run, const RunInput& input) const {
  const RunPlace& place = state_.view.place(run);
  return {place.rank, input.is_weight ? std::nullopt : place.step, std::string(input.parameter)};
}

void EnteringValues::note_parameters(uint32_t run, const RunInputs& inputs) {
  for (const RunInput& input : state_.view.run(run).inputs) {
    if (input.from != From::kParameter || input.made_by != kNoRun || !state_.view.compared(input.tensor)) continue;
    const bool off = std::any_of(inputs.entering.begin(), inputs.entering.end(),
                                 [&](const RunInput* other) { return other == &input; });
    const ParameterKey key = key_of(run, input);
    if (!off && !reported_.contains(key)) agreed_.insert(key);
  }
}

void EnteringValues::judge(uint32_t run, const RunInputs& inputs) {
  for (const RunInput* const input : inputs.entering) {
    // It was right where it was read first: something has updated it, or this reads it in a coarser format.
    if (input->from == From::kParameter && agreed_.contains(key_of(run, *input))) {
      const TensorDiff& diff = state_.view.diff(input->tensor);
      if (unit_roundoff(diff.dtype_a) > unit_roundoff(diff.dtype_b))
        return state_.add_cast(run, run, inputs, input->tensor);
      continue;
    }
    const uint32_t tensor = state_.view.compared(input->tensor) ? input->tensor : input->made_as;
    if (input->from == From::kParameter) {
      add_parameter(run, inputs, *input, tensor);
    } else if (!state_.any_before && !inputs.downstream && !state_.view.all_agree(run)) {
      return judge_unknown_source(run, inputs, *input, tensor);  // where one comes from, others do
    }
  }
}

void EnteringValues::add_parameter(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor) {
  state_.history.healthy[tensor] = 0;
  if (!reported_.insert(key_of(run, input)).second) {
    state_.history.states[run].downstream = true;  // of the root at its first reader
    return;
  }
  Root& root = state_.roots.add_entering(run, input.is_weight ? DivergenceKind::kParameter : DivergenceKind::kInput,
                                         inputs, tensor);
  root.divergence.parameter = input.parameter;
  root.divergence.reason = "its value differs already where it is first read";
}

// A parameter where the reference has one of this value.
Root& EnteringValues::add_by_value(uint32_t run, const RunInputs& inputs, uint32_t tensor) {
  std::string parameter = state_.view.parameter_like(tensor);
  const DivergenceKind kind = parameter.empty() ? DivergenceKind::kInput : DivergenceKind::kParameter;
  Root& root = state_.roots.add_entering(run, kind, inputs, tensor);
  root.divergence.parameter = std::move(parameter);
  return root;
}

void EnteringValues::judge_carried(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  const bool wrong = state_.view.lacks_input(run) ? !state_.view.heals(run) : state_.view.any_differs(outputs);
  if (!wrong) return;
  const uint32_t tensor = inputs.carried.front()->tensor;
  Root& root = add_by_value(run, inputs, tensor);
  root.lower(kUnknownSource);
  root.divergence.reason = fmt::format(
      "its input {} differs by more than anything before it in this step or in those before", state_.view.slot(tensor));
}

void EnteringValues::judge_unknown_source(uint32_t run, const RunInputs& inputs, const RunInput& input,
                                          uint32_t tensor) {
  if (state_.view.other_framework()) return;
  const uint32_t other =
      state_.view.of_cuts() ? state_.one_sided_maker(input) : state_.one_sided.between(state_.first_of_step, run);
  if (other != kNoRun) {
    (void)state_.roots.add_one_sided(other, run, inputs);
    return;
  }
  if (state_.view.is(tensor, Verdict::kShape)) {
    Root& root = state_.roots.add(run, DivergenceKind::kShape, inputs, {tensor});
    root.lower(kNotAllKnown);
    root.divergence.reason = fmt::format("its input {} has another shape ({}), and nothing before it has",
                                         state_.view.slot(tensor), state_.view.diff(tensor).reason);
    return;
  }
  Root& root = add_by_value(run, inputs, tensor);
  root.uncertain_source = !state_.view.of_cuts();  // there values are followed across what one side alone has
  root.lower(root.divergence.parameter.empty() ? kUnknownSource : kNotAllKnown);
  root.divergence.reason = fmt::format("its input {} differs, and nothing before it does", state_.view.slot(tensor));
}

void judge_constants(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs) {
  const bool all_same = !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](uint32_t tensor) {
    return state.view.is(tensor, Verdict::kSame);
  });
  const uint32_t tensor = inputs.constants.front();
  const bool of_value = state.view.is(tensor, Verdict::kDiffer) || state.view.is(tensor, Verdict::kClose);
  if (inputs.downstream || all_same || (!of_value && !state.view.any_differs(outputs))) return;
  if (state.roots.has_line_of(run)) return;
  Root& root = state.roots.add(run, DivergenceKind::kValue, inputs, outputs);
  root.uncertain_source = state.view.is_gradient(run);
  root.constant = tensor;
  const auto& metrics = state.view.diff(tensor).metrics;
  root.divergence.reason = fmt::format("its constant input {} differs", state.view.slot(tensor));
  if (metrics.count == 1 && metrics.max_a && metrics.max_b)
    root.divergence.reason += fmt::format(": {:g} against {:g}", *metrics.max_a, *metrics.max_b);
}

}  // namespace msdump
