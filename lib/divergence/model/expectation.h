// expect(): the error that the inputs of an execution lead to in an output, before anything is known of its siblings.
//
//   propagated     sqrt(sum of (gain * error)^2) over the inputs
//   amplification  how much the operator's own rounding, relative to its terms, shows in the output: in sums the largest
//                  gain, at least 1
//
// Errors of summands may be independent or equal; the gain lies between these cases. The output of its producer stands in
// for an input that was not dumped. Equal constants are exact. Gains come from operator_gain.h, values and shapes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "divergence/model/operator_gain.h"
#include "divergence/model/tensor_error.h"

namespace msdump {

struct KnownInput {
  TensorId tensor;
  uint32_t slot = 0;
  TensorError error;
  Shape shape;
  double peak = 1;  // the largest element of the reference over its root mean square
  bool is_constant = false;
  bool of_forward = false;  // the forward call of a backward call read or wrote it; else there a gradient
  bool is_result = false;   // of the forward call
  bool is_summand = false;  // the output is the sum of this and of what the other inputs make
};

struct KnownOutput {
  TensorId tensor;
  uint32_t slot = 0;
  TensorError error;
  Shape shape;
};

struct Expectation {
  double propagated = 0, amplification = 1;
  double uncertainty = 0;     // of the gains, as the standard deviation of log(propagated)
  double most = 0;            // if all errors add up and none averages out
  double chance = 0;          // an error that a few elements cause by chance: they pass or do not
  std::vector<double> gains;  // by input
};

// The error of a gradient that passes where values are positive, if these have `error`: some elements pass wrongly.
[[nodiscard]] double error_of_flips(double error);

// A gain depends on all inputs: the contribution of an operand of a product has the norm of the other one. A backward
// call, which has inputs of its forward call, has the gains of the operator's derivative.
[[nodiscard]] Expectation expect(std::string_view family, const OperatorGain& gain, std::span<const KnownInput> inputs,
                                 const KnownOutput& output);

// The gains of a backward call of msprobe, which are those of its operator's derivative. It reads the gradients of the
// results and the inputs and outputs of its forward call. It writes the gradient of each input, in that input's shape.

class BackwardGains {
 public:
  BackwardGains(std::string_view family, const OperatorGain& forward, std::span<const KnownInput> inputs,
                const KnownOutput& output);

  [[nodiscard]] double of(size_t i) const;
  // True if rounding is relative to the summands, not to the result.
  [[nodiscard]] bool adds_terms() const { return adds_terms_; }

 private:
  void find_product(std::string_view family);
  [[nodiscard]] double of_product(size_t i) const;
  [[nodiscard]] double of_normalisation(size_t i) const;
  [[nodiscard]] double of_softmax(size_t i) const;
  [[nodiscard]] const KnownInput* result() const;

  const OperatorGain& forward_;
  const std::span<const KnownInput> inputs_;
  const KnownOutput& output_;
  const KnownInput* gradient_ = nullptr;  // the largest
  const KnownInput* other_ = nullptr;     // the other factor of each product
  bool folds_ = false;                    // the output is a sum over elements of the gradient
  bool adds_terms_ = false;
  double terms_ = 0;
};

// True if inputs of a forward call are among them.
[[nodiscard]] bool is_backward_call(std::span<const KnownInput> inputs);

}  // namespace msdump
