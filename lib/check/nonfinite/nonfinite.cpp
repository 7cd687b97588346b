#include "check/nonfinite/nonfinite.h"

#include <algorithm>

#include "ge/operators/operator_properties.h"

namespace msdump::check {
namespace {

using ge::has_property;
using ge::OperatorProperty;

// A number below this is a literal, not a result: -1e9, the smallest float32.
constexpr double kMaskedBelow = -1e8;

}  // namespace

bool is_two_valued(const TensorFacts& facts) {
  if (facts.from == TensorFacts::From::kElements) return facts.constant() == true;
  return facts.max == 0.0 || (facts.min && facts.min == facts.max);
}

std::vector<TensorId> NonFiniteClassifier::inputs_of(ExecutionId run) const {
  std::vector<TensorId> tensors;
  for (const RunInput& input : dump_.runs()[run].inputs) {
    if (tensor_of(input) != kNoId) tensors.push_back(tensor_of(input));
  }
  return tensors;
}

bool NonFiniteClassifier::needs_inputs(TensorId tensor) const {
  const TensorFacts& facts = facts_[tensor];
  return facts.has_negative_inf && !facts.has_nan && !facts.has_positive_inf;
}

NonFinite NonFiniteClassifier::classify(TensorId tensor) const {
  const TensorFacts& facts = facts_[tensor];
  if (!facts.known()) return NonFinite::kUndecided;
  if (facts.is_finite()) return NonFinite::kFinite;
  if (facts.has_nan || facts.has_positive_inf) return NonFinite::kFault;
  const TensorRole role = dump_.role(tensor);
  if (role == TensorRole::kParameter) return is_two_valued(facts_[tensor]) ? NonFinite::kMask : NonFinite::kFault;
  if (role == TensorRole::kUpdated) return NonFinite::kFault;
  const ExecutionId run = dump_.run_of(tensor);
  return role != TensorRole::kOutput || run == kNoId ? NonFinite::kMask : classify_negative_infinity(tensor, run);
}

bool NonFiniteClassifier::has_finite_outputs(ExecutionId run) const {
  const std::vector<TensorId>& outputs = dump_.runs()[run].outputs;
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](TensorId output) {
    return facts_[output].known() && facts_[output].is_finite();
  });
}

bool NonFiniteClassifier::is_absorbed(TensorId tensor) const {
  if (facts_[tensor].has_nan) return false;
  if (dump_.role(tensor) == TensorRole::kParameter) {
    // Constants are written once, for all steps.
    if (!dump_.identity(tensor).step) return !dump_.runs().empty();
    const std::vector<ExecutionId>& readers = dump_.readers_of_parameter(tensor);
    return !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](ExecutionId run) { return has_finite_outputs(run); });
  }
  const ExecutionId run = dump_.run_of(tensor);
  if (dump_.role(tensor) != TensorRole::kInput || run == kNoId || !has_finite_outputs(run)) return false;
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
    return input.tensor == tensor &&
           (input.from == InputEdge::From::kConstant || input.from == InputEdge::From::kParameter);
  });
}

NonFinite NonFiniteClassifier::classify_output(TensorId tensor, ExecutionId run) const {
  const bool only_negative = needs_inputs(tensor) && dump_.role(tensor) == TensorRole::kInput;
  return only_negative ? classify_negative_infinity(tensor, run) : classify(tensor);
}

bool NonFiniteClassifier::adds_infinities(TensorId tensor, ExecutionId run) const {
  const TensorFacts& made = facts_[tensor];
  const std::vector<TensorId> terms = inputs_of(run);
  if (!has_property(type_of(run), OperatorProperty::kAdds) || terms.size() < 2) return false;
  if (!made.negative_inf || made.elements.value_or(0) == 0) return false;
  uint64_t most = 0;
  for (const TensorId term : terms) {
    const TensorFacts& facts = facts_[term];
    const uint64_t elements = facts.elements.value_or(0);
    if (!facts.known() || !facts.negative_inf || elements == 0 || *made.elements % elements != 0) return false;
    most += *facts.negative_inf * (*made.elements / elements);
  }
  return *made.negative_inf > most;
}

NonFinite NonFiniteClassifier::classify_negative_infinity(TensorId tensor, ExecutionId run) const {
  const std::string_view type = type_of(run);
  const std::vector<TensorId> inputs = inputs_of(run);
  const auto any = [&](const auto& holds) {
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) { return holds(facts_[input]); });
  };
  if (adds_infinities(tensor, run)) return NonFinite::kFault;
  if (any([](const TensorFacts& input) { return input.has_negative_inf; })) return NonFinite::kMask;
  if (has_property(type, OperatorProperty::kCopiesOrFills)) return NonFinite::kMask;
  if (has_property(type, OperatorProperty::kCasts)) {
    const bool has_mask_constant = any([](const TensorFacts& input) { return input.min && *input.min < kMaskedBelow; });
    const bool zeros_beside = is_two_valued(facts_[tensor]) && facts_[tensor].max.value_or(0) == 0;
    return has_mask_constant || zeros_beside ? NonFinite::kMask : NonFinite::kFault;
  }
  if (has_property(type, OperatorProperty::kMayDiverge)) return NonFinite::kFault;
  return any([](const TensorFacts& input) { return input.known(); }) ? NonFinite::kFault : NonFinite::kMask;
}

}  // namespace msdump::check
