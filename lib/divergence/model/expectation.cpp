#include "divergence/model/expectation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "divergence/model/backward_gain.h"
#include "divergence/model/constants.h"
#include "divergence/model/product_terms.h"

namespace msdump {
namespace {

// The two operands of a product: the floating inputs with two axes or more that have the most elements.
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

// Of operators that let a gradient pass or not: the slot of the gradient.
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
        count_ = terms_of(family, x, w, output);
        terms_ = std::sqrt(count_) * x.error.rms * w.error.rms;
      }
    }
    if (gain.rule == GainRule::kProject) find_projected();
  }

  // Rounding inside a sum is relative to its terms, not to the result.
  [[nodiscard]] bool adds_terms() const {
    switch (gain_.rule) {
      case GainRule::kContraction:
      case GainRule::kSum:
      case GainRule::kMean:
      case GainRule::kNormalise: return true;
      case GainRule::kProject: return terms_ > 0;
      default: return false;
    }
  }

  [[nodiscard]] double of(size_t i) const {
    const TensorError &in = inputs_[i].error, &out = output_.error;
    switch (gain_.rule) {
      case GainRule::kUnit:
      case GainRule::kPart:
      case GainRule::kFlip: return 1;
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
      case GainRule::kProject: return terms_ > 0 && is_largest(i) ? gain_ratio(terms_, out.norm()) : 1;
      case GainRule::kNormalise: return i == 0 ? gain_ratio(in.rms, in.deviation) : 1;
      case GainRule::kChoose:
      case GainRule::kRandom: break;
    }
    return 1;
  }

  // Of the gradient of a filter: the feature map has a mean, and an error of the gradient that has one too adds up over
  // the map, where the gradient itself, after a normalisation, has none. A standard deviation of the logarithm.
  [[nodiscard]] double of_sums() const {
    if (!operands_) return 0;
    double mean = 0;
    for (const size_t i : {operands_->first, operands_->second}) {
      const TensorError& in = inputs_[i].error;
      if (in.rms > 0)
        mean = std::max(mean, std::sqrt(std::max(0.0, 1 - in.deviation * in.deviation / (in.rms * in.rms))));
    }
    return std::log(1 + mean * std::sqrt(count_) / 4) / 2;
  }

 private:
  [[nodiscard]] bool is_largest(size_t i) const { return inputs_[i].error.elements == count_; }

  // Of what is added to the first input, where the two are independent.
  [[nodiscard]] double share_of_term() const {
    const double before = inputs_.front().error.rms, after = output_.error.rms;
    return gain_ratio(std::sqrt(std::abs(after * after - before * before)), after);
  }

  // The gradient of a parameter is a sum over the gradient of the result: of the two large inputs the smaller, as the
  // other is what was normalised.
  void find_projected() {
    count_ = 0;
    for (const KnownInput& input : inputs_) count_ = std::max(count_, input.error.elements);
    if (count_ <= output_.error.elements) return;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const double norm = inputs_[i].error.norm();
      if (is_largest(i) && (terms_ == 0 || norm < terms_)) terms_ = norm;
    }
  }

  // Elements that become one.
  [[nodiscard]] double folded(const TensorError& in) const {
    return std::max(1.0, in.elements / std::max(1.0, output_.error.elements));
  }

  const std::string_view family_;
  const OperatorGain& gain_;
  const std::span<const KnownInput> inputs_;
  const KnownOutput& output_;
  std::optional<Operands> operands_;
  double count_ = 1, terms_ = 0;  // of products in a sum, and their root mean square; of projections their norm
};

}  // namespace

double error_of_flips(double error) { return std::sqrt(kFlipShare * error); }

// The error if some elements of the gradient pass that should not: as many as the error of what decides makes likely,
// and a few more, each as large as the largest element.
double chance_of_flips(std::string_view family, std::span<const KnownInput> inputs, const KnownOutput& output) {
  const bool backward = is_backward_call(inputs);
  double share = 0, peak = 1;
  for (const KnownInput& input : inputs) {
    if (backward ? !input.of_forward : input.slot == gradient_slot(family)) {
      peak = std::max(peak, input.peak);
    } else {
      share = std::max(share, kFlipShare * input.error.relative);
    }
  }
  const double elements = std::max(1.0, output.error.elements);
  return share == 0 ? 0 : std::sqrt(share + kFewFlips / elements * peak * peak);
}

// All of the error may be in the part that is taken.
double error_of_part(std::span<const KnownInput> inputs, const KnownOutput& output) {
  double largest = 0;
  for (const KnownInput& input : inputs) {
    if (!input.of_forward)  // of a backward call: only gradients are passed on
      largest = std::max(largest, input.error.relative * gain_ratio(input.error.norm(), output.error.norm()));
  }
  return kSlackOfPart * largest;
}

// Where independent errors average out, errors that are alike do not: their gain is 1. The mean of both on a logarithmic
// scale, and how far it may be off.
double between(double independent, double& uncertainty) {
  if (independent <= 0 || independent >= 1) return independent;
  const double half = -std::log(independent) / 2;
  uncertainty = std::max(uncertainty, half / 2);
  return std::sqrt(independent);
}

// Of operators that round to zero or one a derivative that is neither: a value near the threshold passes or does not.
bool may_flip(std::string_view family, const OperatorGain& gain, bool backward) {
  if (!backward) return gain.rule == GainRule::kFlip;
  if (gain.noise == NoiseClass::kUnknown) return true;  // a module may have one inside
  for (const std::string_view part : {"relu", "max", "min", "clamp", "clip", "hard", "hswish", "hsigmoid"}) {
    if (family.find(part) != std::string_view::npos) return true;
  }
  return false;
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
    double value = derivative ? derivative->of(i) : rules.of(i);
    const double error = input.error.relative;
    // The root of a value near zero differs by the root of the difference.
    result.most += std::max(1.0, value) * (family == "sqrt" ? std::sqrt(error) : error);
    if (adds_terms) {
      if (!input.is_constant && !input.error.discrete) result.amplification = std::max(result.amplification, value);
      if (input.error.relative > 0) value = between(value, result.uncertainty);
    }
    result.gains.push_back(value);
    const double share = value * input.error.relative;
    squares += share * share;
    sum += share;
  }
  if (family.find("filter") != std::string_view::npos)
    result.uncertainty = hypotenuse(result.uncertainty, rules.of_sums());
  // Errors of several inputs are independent, or alike where they come from the same place.
  if (sum > 0) {
    result.propagated = std::sqrt(std::sqrt(squares) * sum);
    result.uncertainty = hypotenuse(result.uncertainty, std::log(sum / std::sqrt(squares)) / 4);
  }
  if (gain.rule == GainRule::kPart) result.chance = error_of_part(inputs, output);
  if (may_flip(family, gain, backward)) result.chance = chance_of_flips(family, inputs, output);
  return result;
}

}  // namespace msdump
