#include "divergence/model/expectation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "divergence/model/constants.h"
#include "ge/operators/operator_properties.h"

namespace msdump {
namespace {

// Sums inside an operator: how many products make an element of the result, and how much larger they are than it.

double spatial(const Shape& shape) {
  double size = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) size *= static_cast<double>(shape[axis]);
  return size;
}

// A gain: at most 1e12, which says that the result is the remainder of terms that cancel.
double gain_ratio(double numerator, double denominator) {
  constexpr double kMostGain = 1e12;
  if (numerator == 0) return 0;
  return denominator > 0 ? std::min(numerator / denominator, kMostGain) : kMostGain;
}

// The number of products that an element of the output is the sum of. In a convolution and its gradients, each element of
// the feature map on the far side takes one product with each weight of its channel.
double terms_of(std::string_view family, const KnownInput& x, const KnownInput& w, const KnownOutput& y) {
  const double nx = x.error.elements, nw = w.error.elements, ny = y.error.elements;
  if (ny == 0) return 1;
  if (family.find("conv") == std::string_view::npos) {
    double batch = 1;
    if (x.shape.size() > 2 && w.shape.size() > 2) {
      for (size_t axis = 0; axis + 2 < y.shape.size(); ++axis) batch *= static_cast<double>(y.shape[axis]);
    }
    return std::max(1.0, std::sqrt(nx * nw / ny / std::max(1.0, batch)));
  }
  struct Part {
    const Shape* shape;
    double elements;
  };
  std::array<Part, 3> parts = {Part{&x.shape, nx}, Part{&w.shape, nw}, Part{&y.shape, ny}};
  // The weight has the smallest window, and another tensor has its channels. Feature maps may be as small.
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& one, const Part& other) { return spatial(*one.shape) < spatial(*other.shape); });
  for (const Part& weight : parts) {
    if (weight.shape->empty() || weight.shape->front() == 0) continue;
    const auto channels = static_cast<double>(weight.shape->front());
    double map = 0;
    for (const Part& part : parts) {
      if (&part == &weight || part.shape->size() < 2) continue;
      if (static_cast<double>((*part.shape)[1]) == channels)
        map = map == 0 ? part.elements : std::min(map, part.elements);
    }
    if (map > 0) return std::max(1.0, map * weight.elements / channels / ny);
  }
  return 1;
}

// The operands of a product: the two floating inputs of two or more dimensions that have the most elements.
struct Operands {
  size_t first = SIZE_MAX, second = SIZE_MAX;
};

std::optional<Operands> operands_of(std::span<const KnownInput> inputs) {
  Operands operands;
  const auto elements = [&](size_t i) { return i == SIZE_MAX ? -1.0 : inputs[i].error.elements; };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].error.discrete || inputs[i].shape.size() < 2) continue;
    if (elements(i) > elements(operands.first)) {
      operands.second = operands.first;
      operands.first = i;
    } else if (elements(i) > elements(operands.second)) {
      operands.second = i;
    }
  }
  if (operands.second == SIZE_MAX) return std::nullopt;
  return operands;
}

// The slot of the gradient, for operators that let a gradient pass or not.
uint32_t gradient_slot(std::string_view family) {
  const auto holds = [&](std::string_view part) { return family.find(part) != std::string_view::npos; };
  return holds("pool") || holds("minimum") || holds("maximum") ? 2 : 0;
}

class Rules {
 public:
  Rules(std::string_view family, const OperatorGain& gain, std::span<const KnownInput> inputs,
        const KnownOutput& output)
      : family_(family), gain_(gain), inputs_(inputs), output_(output) {
    if (gain.rule == GainRule::kContraction) {
      operands_ = operands_of(inputs);
      if (operands_) {
        const KnownInput &x = inputs[operands_->first], &w = inputs[operands_->second];
        terms_ = std::sqrt(terms_of(family, x, w, output)) * x.error.rms * w.error.rms;
      }
    }
  }

  // True if rounding inside a sum is relative to its summands, not to the result.
  [[nodiscard]] bool adds_terms() const {
    switch (gain_.rule) {
      case GainRule::kContraction:
      case GainRule::kSum:
      case GainRule::kMean:
      case GainRule::kNormalise: return true;
      default: return false;
    }
  }

  [[nodiscard]] double of(size_t i) const {
    const TensorError &in = inputs_[i].error, &out = output_.error;
    switch (gain_.rule) {
      case GainRule::kUnit:
      case GainRule::kPart:
      case GainRule::kFlip:
      case GainRule::kProject: return 1;
      case GainRule::kJoin: return std::min(1.0, gain_ratio(in.norm(), out.norm()));
      case GainRule::kAdd: return gain_ratio(in.rms, out.rms);
      case GainRule::kAccumulate:
        return i == 0 ? gain_ratio(in.rms, out.rms)
                      : std::min(1.0, std::max(share_of_term(), gain_ratio(in.rms, out.rms)));
      case GainRule::kContraction:
        if (operands_ && (i == operands_->first || i == operands_->second)) return gain_ratio(terms_, out.rms);
        return operands_ ? gain_ratio(in.rms, out.rms) : 1;  // a bias
      case GainRule::kSum: return gain_ratio(in.norm(), out.norm());
      case GainRule::kMean: return gain_ratio(in.norm(), out.norm()) / folded(in);
      case GainRule::kExponential: return in.rms;
      case GainRule::kPowerOf: return out.rms > 0 ? std::max(1.0, std::abs(std::log(out.rms))) : 1;
      case GainRule::kLogarithm: return gain_ratio(1, out.rms);
      case GainRule::kLossOfLogits:
      case GainRule::kSlope: return gain_ratio(in.rms, out.rms);
      case GainRule::kNormalise: return i == 0 ? gain_ratio(in.rms, in.deviation) : 1;
      case GainRule::kChoose:
      case GainRule::kRandom: break;
    }
    return 1;
  }

 private:
  // The share of the value that is added to the first input, if the two are independent.
  [[nodiscard]] double share_of_term() const {
    const double before = inputs_.front().error.rms, after = output_.error.rms;
    return gain_ratio(std::sqrt(std::abs(after * after - before * before)), after);
  }

  // The number of input elements that become one.
  [[nodiscard]] double folded(const TensorError& in) const {
    return std::max(1.0, in.elements / std::max(1.0, output_.error.elements));
  }

  const std::string_view family_;
  const OperatorGain& gain_;
  const std::span<const KnownInput> inputs_;
  const KnownOutput& output_;
  std::optional<Operands> operands_;
  double terms_ = 0;  // the root mean square of a product, times the root of their number in a sum
};

}  // namespace

double error_of_flips(double error) { return std::sqrt(kFlipShare * error); }

// The error if elements of the gradient pass wrongly: as many as the error of the deciding values makes likely, and a few
// more. Each is as large as the largest element. The gradient of a pooling goes to another element: both are wrong.
double chance_of_flips(std::string_view family, std::span<const KnownInput> inputs, const KnownOutput& output) {
  const bool backward = is_backward_call(inputs);
  double share = 0, peak = 1, elements = std::max(1.0, output.error.elements), wrong = 1;
  for (const KnownInput& input : inputs) {
    if (backward ? !input.of_forward : input.slot == gradient_slot(family)) {
      peak = std::max(peak, input.peak);
      if (input.error.elements >= 1 && input.error.elements < elements) {
        elements = input.error.elements;
        wrong = 2;
      }
    } else {
      share = std::max(share, kFlipShare * input.error.relative);
    }
  }
  return share == 0 ? 0 : std::sqrt(wrong * (share + kFewFlips / elements * peak * peak));
}

// The error if the part of the input that is taken has all of it.
double error_of_part(std::span<const KnownInput> inputs, const KnownOutput& output) {
  double largest = 0;
  for (const KnownInput& input : inputs) {
    if (!input.of_forward)  // of a backward call: only gradients are passed on
      largest = std::max(largest, input.error.relative * gain_ratio(input.error.norm(), output.error.norm()));
  }
  return largest;
}

// The gain between independent errors, which average out, and equal ones, whose gain is 1: the mean on a logarithmic
// scale. `uncertainty` grows by how far it may be off.
double between(double independent, double& uncertainty) {
  if (independent <= 0 || independent >= 1) return independent;
  const double half = -std::log(independent) / 2;
  uncertainty = std::max(uncertainty, half / 2);
  return std::sqrt(independent);
}

// True if a value near a threshold may pass or not: the operator rounds its derivative to zero or one.
bool may_flip(std::string_view family, const OperatorGain& gain, bool backward) {
  if (!backward) return gain.rule == GainRule::kFlip;
  if (gain.noise == NoiseClass::kUnknown) return true;  // a module may have one inside
  return ge::has_property(family, ge::OperatorProperty::kRoundsDerivative);
}

// The gradients of a weight are no summand of those of its bias.
double gain_of_summand(const KnownInput& input, const KnownOutput& output) {
  return input.shape == output.shape ? gain_ratio(input.error.rms, output.error.rms) : 0;
}

Expectation expect(std::string_view family, const OperatorGain& gain, std::span<const KnownInput> inputs,
                   const KnownOutput& output) {
  Expectation result;
  const bool backward = is_backward_call(inputs);
  const Rules rules(family, gain, inputs, output);
  std::optional<BackwardGains> derivative;
  if (backward) derivative.emplace(family, gain, inputs, output);
  const bool adds_terms = derivative ? derivative->adds_terms() : rules.adds_terms();
  double squares = 0, sum = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const KnownInput& input = inputs[i];
    double value = input.is_summand ? gain_of_summand(input, output) : derivative ? derivative->of(i) : rules.of(i);
    const double error = input.error.relative;
    // The root of a value near zero differs by the root of the difference.
    result.most += std::max(1.0, value) * (family == "sqrt" ? std::sqrt(error) : error);
    if (adds_terms && !input.is_summand) {
      if (!input.is_constant && !input.error.discrete) result.amplification = std::max(result.amplification, value);
      if (input.error.relative > 0) value = between(value, result.uncertainty);
    }
    result.gains.push_back(value);
    const double share = value * input.error.relative;
    squares += share * share;
    sum += share;
  }
  // Errors of several inputs are independent, or equal if they come from the same place.
  if (sum > 0) {
    result.propagated = std::sqrt(std::sqrt(squares) * sum);
    result.uncertainty = hypotenuse(result.uncertainty, std::log(sum / std::sqrt(squares)) / 4);
  }
  if (gain.rule == GainRule::kPart) result.chance = error_of_part(inputs, output);
  if (may_flip(family, gain, backward)) result.chance = chance_of_flips(family, inputs, output);
  return result;
}

bool is_backward_call(std::span<const KnownInput> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const KnownInput& input) { return input.of_forward; });
}

BackwardGains::BackwardGains(std::string_view family, const OperatorGain& forward, std::span<const KnownInput> inputs,
                             const KnownOutput& output)
    : forward_(forward), inputs_(inputs), output_(output) {
  for (const KnownInput& input : inputs) {
    if (input.of_forward || input.is_summand || input.error.discrete) continue;
    if (gradient_ == nullptr || input.error.elements > gradient_->error.elements) gradient_ = &input;
  }
  if (gradient_ == nullptr) return;
  folds_ = output.error.elements < gradient_->error.elements;
  if (forward.rule == GainRule::kContraction) find_product(family);
  adds_terms_ = other_ != nullptr || (folds_ && forward.rule != GainRule::kPart && forward.rule != GainRule::kJoin);
}

// The gradient of one factor is a product with the other one. It has the shape of its own factor, which PyTorch may
// transpose. If both factors have that shape, the one with the larger error counts.
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

// The derivative subtracts the mean of the gradient and its part parallel to the values.
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

// The derivative p (g - sum of p g) subtracts the common part of g.
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
