// The gains of a backward call of msprobe: those of the derivative of its operator. It reads the gradients of the results
// and what its forward call read and wrote; it writes the gradient of each input, in that input's shape.
#pragma once

#include <span>
#include <string_view>

#include "divergence/model/expectation.h"

namespace msdump {

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
