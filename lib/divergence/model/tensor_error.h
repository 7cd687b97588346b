// How far a tensor of the candidate is from the reference's, in the units of the noise model.
//
//   relative   root mean square of the differences over that of the reference, over the pairs of which both are finite;
//              of integers and truth values the share of elements that differ
//   rms, deviation   of the reference: root mean square, standard deviation
// From statistics alone, `relative` is the largest deviation of a statistic over the scale of the tensor, beyond the
// rounding of its text: of a random error that is more than the root mean square for max and min, and less for the mean.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/pair/tensor_diff.h"
#include "tensor/dtype.h"

namespace msdump {

struct TensorError {
  double relative = 0;
  double rms = 0, deviation = 0;
  double elements = 0;
  bool exact = false;     // the same bits
  bool discrete = false;  // integers, truth values
  bool by_statistics = false;

  // What an error may be although statistics agree: of a part of the elements, which moves the mean by less than a digit.
  [[nodiscard]] double hidden() const;
  [[nodiscard]] double norm() const;  // of the reference
};

// No value where elements or statistics were not compared, or say nothing. Where the candidate is about `factor` times the
// reference it is divided by that first.
[[nodiscard]] std::optional<TensorError> error_of(const TensorDiff& diff, double factor = 1);

// The power of two that the candidate's gradients are multiplied by: the scale of a loss, which keeps small gradients
// representable; below 1 where the reference is scaled. 1 where most tensors that differ by a factor do not share one.
[[nodiscard]] double loss_scale(const std::vector<TensorDiff>& diffs);

// What the candidate is divided by before it is judged: `factor`, its square for squares of gradients, or 1.
[[nodiscard]] double scale_of(const TensorDiff& diff, double factor);

// Is the norm of the candidate within a factor of two of so many times the reference's?
[[nodiscard]] bool is_about_times(const TensorDiff& diff, double factor);

// unit_roundoff(dtype) of values of this size: more where a format has few digits left.
[[nodiscard]] double unit_roundoff(DType dtype, double size);

}  // namespace msdump
