// How large the difference of two tensors is, and whether the differences of an operator's inputs explain those of its
// outputs: an error that only grows is not a root.
//
// Two sizes, both relative to the reference. One wrong element shows in `max`; one large constant does not set the
// scale:
//   l2     the root of the mean square of the differences over the scale of the tensor
//   max    the largest difference over the scale
// The scale is that of the tolerance (tolerance.h): a mask of -1e4 does not count.
#pragma once

#include <string_view>
#include <vector>

#include "compare/pair/tensor_diff.h"

namespace msdump {

struct ErrorSize {
  double l2 = 0, max = 0;

  void raise(const ErrorSize& other);
};
[[nodiscard]] ErrorSize error_size(const TensorDiff& diff);

// The rounding to expect from equal inputs, relative to the scale: some two hundred units in the last place of the
// dtype for sums of a few thousand terms in another order.
//   float64 1e-12   float32 2e-5   float16 4e-3   bfloat16 3e-2   others: nothing
[[nodiscard]] double rounding_of(DType dtype);

// Operators whose results may be small differences of large terms: sums, differences, the gradients of biases and of
// normalisations. A result that is zero in exact arithmetic is pure rounding noise: the gradient of a bias before a
// normalisation, or of a key's bias in an attention.
[[nodiscard]] bool may_cancel(std::string_view op_type);

// Operators that may turn a small difference of the inputs into a large one of the outputs: those that choose (the
// largest, an order, a sign) and optimizers that divide by the size of the gradient. They are judged with equal inputs
// only.
[[nodiscard]] bool may_jump(std::string_view op_type);

struct CancellationCase {
  std::vector<const TensorDiff*> inputs;
  const TensorDiff* output = nullptr;
};
// Can the differences of the inputs add up to that of the output? Their rounding counts, too, if nearly all terms
// cancel.
[[nodiscard]] bool is_cancellation_noise(const CancellationCase& one);

// An operator that makes this many times its inputs' error is a suspect; ordinary ones stay below 10.
inline constexpr double kOrdinaryGrowth = 30;
[[nodiscard]] bool explains(const ErrorSize& inputs, const ErrorSize& outputs);

}  // namespace msdump
