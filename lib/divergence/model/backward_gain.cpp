#include "divergence/model/backward_gain.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "divergence/model/product_terms.h"

namespace msdump {

bool is_backward_call(std::span<const KnownInput> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const KnownInput& input) { return input.of_forward; });
}

BackwardGains::BackwardGains(std::string_view family, const OperatorGain& forward, std::span<const KnownInput> inputs,
                             const KnownOutput& output)
    : forward_(forward), inputs_(inputs), output_(output) {
  for (const KnownInput& input : inputs) {
    if (input.of_forward || input.error.discrete) continue;
    if (gradient_ == nullptr || input.error.elements > gradient_->error.elements) gradient_ = &input;
  }
  if (gradient_ == nullptr) return;
  folds_ = output.error.elements < gradient_->error.elements;
  if (forward.rule == GainRule::kContraction) find_product(family);
  adds_terms_ = other_ != nullptr || (folds_ && forward.rule != GainRule::kPart && forward.rule != GainRule::kJoin);
}

// The gradient of one factor is a product with the other one. It has the shape of its own factor, which PyTorch may
// transpose; where both have it, the one with the larger error counts.
void BackwardGains::find_product(std::string_view family) {
  const Shape turned(output_.shape.rbegin(), output_.shape.rend());
  std::vector<const KnownInput*> factors;
  for (const KnownInput& input : inputs_) {
    if (input.of_forward && !input.is_result && !input.error.discrete && input.shape.size() >= 2)
      factors.push_back(&input);
  }
  if (factors.size() < 2) return;
  const auto owns = [&](const KnownInput* one) { return one->shape == output_.shape || one->shape == turned; };
  if (owns(factors[0]) == owns(factors[1])) {
    if (!owns(factors[0])) return;
    other_ = factors[0]->error.relative > factors[1]->error.relative ? factors[0] : factors[1];
  } else {
    other_ = owns(factors[0]) ? factors[1] : factors[0];
  }
  terms_ = std::sqrt(terms_of(family, *gradient_, *other_, output_)) * gradient_->error.rms * other_->error.rms;
}

const KnownInput* BackwardGains::result() const {
  const auto found =
      std::find_if(inputs_.begin(), inputs_.end(), [](const KnownInput& input) { return input.is_result; });
  return found == inputs_.end() ? nullptr : &*found;
}

double BackwardGains::of_product(size_t i) const {
  if (other_ != nullptr)
    return &inputs_[i] == gradient_ || &inputs_[i] == other_ ? gain_ratio(terms_, output_.error.rms) : 0;
  if (&inputs_[i] != gradient_) return 0;
  return folds_ ? gain_ratio(gradient_->error.norm(), output_.error.norm()) : 1;  // a bias
}

// The mean of the gradient, and what is parallel to the values, are subtracted.
double BackwardGains::of_normalisation(size_t i) const {
  const KnownInput& input = inputs_[i];
  if (folds_) return &input == gradient_ ? gain_ratio(gradient_->error.norm(), output_.error.norm()) : 1;
  const auto values =
      std::find_if(inputs_.begin(), inputs_.end(), [](const KnownInput& one) { return one.of_forward; });
  if (&input != gradient_ && &input != &*values) return input.is_result ? 0 : 1;
  const auto scale = std::find_if(values + 1, inputs_.end(), [&](const KnownInput& one) {
    return !one.is_result && one.error.elements < values->error.elements;
  });
  const double factor = scale == inputs_.end() ? 1 : scale->error.rms;
  return std::max(1.0, gain_ratio(gradient_->error.rms * factor, values->error.deviation * output_.error.rms));
}

// p (g - sum of p g): what g has in common is subtracted.
double BackwardGains::of_softmax(size_t i) const {
  const KnownInput* const p = result();
  if (p == nullptr || p->error.elements != gradient_->error.elements)
    return inputs_[i].of_forward ? inputs_[i].error.rms : 1;
  if (&inputs_[i] != gradient_ && &inputs_[i] != p) return 0;
  return std::max(1.0, gain_ratio(p->error.rms * gradient_->error.rms, output_.error.rms));
}

double BackwardGains::of(size_t i) const {
  const KnownInput& input = inputs_[i];
  if (gradient_ == nullptr) return 1;
  const bool is_gradient = !input.of_forward;
  const double of_sum = folds_ ? gain_ratio(gradient_->error.norm(), output_.error.norm()) : 1;
  switch (forward_.rule) {
    case GainRule::kContraction: return of_product(i);
    case GainRule::kNormalise:
    case GainRule::kProject: return of_normalisation(i);
    case GainRule::kExponential: return of_softmax(i);
    case GainRule::kLossOfLogits: return is_gradient ? 1 : input.is_result ? 0 : std::max(1.0, input.error.rms);
    case GainRule::kAdd: return is_gradient ? of_sum : 0;
    case GainRule::kPart:
    case GainRule::kJoin:
    case GainRule::kSum:
    case GainRule::kMean: return is_gradient ? 1 : 0;
    default: return is_gradient ? of_sum : input.is_result ? 0 : 1;
  }
}

}  // namespace msdump
