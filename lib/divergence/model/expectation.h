// What error the inputs of a run lead to in each of its outputs, before anything is known of its siblings:
//
//   propagated     sqrt(sum of (gain * error)^2) over the inputs
//   amplification  how much a rounding of the operator's own, relative to its terms, shows in the output: in sums the
//                  largest gain, at least 1
//
// Errors of the terms of a sum may be independent or alike; the gain lies between that of the one and of the other.
// An input that was not dumped is known by what its producer wrote. Constants are exact where they are equal.
// Gains come from operator_gain.h and the values and shapes that are there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "divergence/model/operator_gain.h"
#include "divergence/model/tensor_error.h"

namespace msdump {

struct KnownInput {
  uint32_t tensor = UINT32_MAX;  // in Pairing::tensors
  uint32_t slot = 0;
  TensorError error;
  Shape shape;
  double peak = 1;  // the largest element of the reference over its root mean square
  bool is_constant = false;
  bool of_forward = false;  // what the forward call of a backward call read or wrote; else a gradient, there
  bool is_result = false;   // of the forward call
};

struct KnownOutput {
  uint32_t tensor = UINT32_MAX;
  uint32_t slot = 0;
  TensorError error;
  Shape shape;
};

struct Expectation {
  double propagated = 0, amplification = 1;
  double uncertainty = 0;     // of the gains: a standard deviation of log(propagated)
  double most = 0;            // if all errors add up, and none averages out
  double chance = 0;          // an error that rare events may cause by themselves: elements that pass or do not
  std::vector<double> gains;  // by input
};

// Of a gradient that passes where values are positive, if these have an error: some pass that should not.
[[nodiscard]] double error_of_flips(double error);

// A gain depends on all inputs: the contribution of an operand of a product has the norm of the other. The gain of a
// backward call, one that has inputs of its forward call, is that of the derivative of the operator.
[[nodiscard]] Expectation expect(std::string_view family, const OperatorGain& gain, std::span<const KnownInput> inputs,
                                 const KnownOutput& output);

// The gains of a backward call of msprobe: those of the derivative of its operator. It reads the gradients of the results
// and what its forward call read and wrote; it writes the gradient of each input, in that input's shape.

class BackwardGains {
 public:
  BackwardGains(std::string_view family, const OperatorGain& forward, std::span<const KnownInput> inputs,
                const KnownOutput& output);

  [[nodiscard]] double of(size_t i) const;
  // Rounding is relative to the terms of a sum, not to the result.
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

// Has it inputs of its forward call?
[[nodiscard]] bool is_backward_call(std::span<const KnownInput> inputs);

}  // namespace msdump
