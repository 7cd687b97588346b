// Finds gradients that one side does not clear: they hold those of the batch before, too. The mean of a sum is the sum of the means, so
// statistics show it whatever the noise: the means of the two sides differ by that of the batch before, in most gradients by the same share
// of it, which is less than one if gradients were clipped.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

struct KeptGradients {
  bool of_candidate = false;      // the side that keeps them
  double share = 0;               // of the gradients of the batch before that is kept: 1, or less if they were clipped
  ExecutionId at;                 // the first execution behind the backward pass, or the first with such a gradient
  std::vector<TensorId> tensors;  // such gradients of the batch
  std::set<ExecutionId> executions;  // that wrote or read them
};

// The first batch in which most gradients of one side hold those of the batch before, of the same step or of the step before; none if the
// sides are sharded differently. Linear in the tensors.
[[nodiscard]] std::optional<KeptGradients> first_kept_gradients(const RunView& view);

}  // namespace msdump
