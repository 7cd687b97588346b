// TensorError: how far a tensor of the candidate is from the reference's, in the units of the noise model.
//
//   relative   root mean square of the differences over that of the reference, over pairs of finite elements; for integers
//              and booleans, the share of elements that differ
//   rms, deviation   root mean square and standard deviation of the reference; by statistics, both are the tensor's scale
//   least_error   by statistics, a lower bound of `relative` of the elements; else 0
// If only statistics are known, `relative` is the largest deviation of one over the tensor's scale, beyond the rounding
// of its text. For a random error, that is more than the root mean square for max and min, and less for the mean and the norm.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/pair/tensor_diff.h"
#include "tensor/dtype.h"

namespace msdump {

struct TensorError {
  double relative = 0;
  double least_error = 0;
  double rms = 0, deviation = 0;
  double elements = 0;
  bool exact = false;     // the verdict is kSame; by statistics, only if there is a checksum
  bool discrete = false;  // integers or booleans
  bool by_statistics = false;

  // The error that agreeing statistics may hide: one of a few elements moves the mean by less than a digit.
  [[nodiscard]] double hidden() const;
  [[nodiscard]] double norm() const;  // of the reference
};

// None if nothing was compared, or statistics prove nothing. Divides a candidate that is about `factor` times the
// reference.
[[nodiscard]] std::optional<TensorError> error_of(const TensorDiff& diff, double factor = 1);

// The loss scale: the power of two that the candidate's gradients are multiplied by, which keeps small ones
// representable. Below 1 if the reference is scaled. 1 unless most tensors that differ by a factor share one.
[[nodiscard]] double loss_scale(const std::vector<TensorDiff>& diffs);

// The divisor of the candidate before it is judged: `factor`, its square for squares of gradients, or 1.
[[nodiscard]] double scale_of(const TensorDiff& diff, double factor);

// True if the candidate's norm is within a factor of two of `factor` times the reference's.
[[nodiscard]] bool is_about_times(const TensorDiff& diff, double factor);

// unit_roundoff(dtype) of values of this size: it is larger if the dtype has few digits left for them.
[[nodiscard]] double unit_roundoff(DType dtype, double size);

}  // namespace msdump
