// A region: several operators of a network that a device computes as one. Each is computed from those before it, and what
// rounding may have done to a value that no file has is carried on to the outputs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "recompute/kernel.h"

namespace msdump::recompute {

// A value that one member hands to another.
struct InnerValue {
  Tensor y;
  std::vector<double> error;  // by element: what rounding can have done, in units of v (2 + g) of judge.h
  double length = 0;          // of the longest sum that led to it
};
// None if there are several answers: which of them the device computed is not known.
[[nodiscard]] Maybe<InnerValue> inner_value(const Output& output);

// Where a call has an inner value: the operand, and its place if that is a list.
struct InnerOperand {
  std::string name;
  size_t place = 0;
  const InnerValue* value = nullptr;
};

// Computes a call in which the inner values are set. The terms of the outputs have added what the errors of these values change
// in them: the kernel is computed again with the values moved by their errors, with random signs.
[[nodiscard]] Maybe<Outputs> compute_with(const Kernel& kernel, const Call& call, std::span<const InnerOperand> inner);

// How the output of a region is judged: every member rounds once, and the coarsest arithmetic counts.
[[nodiscard]] Kernel kernel_of_region(std::span<const Kernel* const> members);

// The filter and the bias of a convolution into which a compiler folded the batch normalisation after it.
struct FoldedOperands {
  Output filter, bias;
};
// `filter` and `bias` (null: none) are those of the convolution alone, `batch_norm` the call after it. An error if that uses
// the statistics of its input.
[[nodiscard]] Maybe<FoldedOperands> fold(const Array& filter, const Tensor& bias, const Call& batch_norm);
// The arithmetic of folding.
[[nodiscard]] const Kernel& fold_kernel();

}  // namespace msdump::recompute
