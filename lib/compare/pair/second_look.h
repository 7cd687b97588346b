// A second pass over two tensors that differ, for the worst elements and for where the error lies.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "compare/pair/error_axes.h"
#include "compare/pair/tensor_diff.h"
#include "compare/pair/worst_elements.h"
#include "dump/elements/host_tensor.h"
#include "io/cancel.h"

namespace msdump {

struct SecondLookOptions {
  size_t worst = 0;  // elements; at most kMostWorst
  bool by_axis = false;
  double scale = 1;  // what elements of the candidate are divided by before they are compared
};

struct SecondLook {
  std::vector<WorstElement> worst;  // the worst first
  ErrorAxes axes;
};

// `diff` is that of the same two tensors. Nothing is read if it says that they are the same or cannot be compared.
Result<SecondLook> look_again(HostTensor& a, HostTensor& b, const TensorDiff& diff, const SecondLookOptions& options,
                              const CancelToken& cancel);

}  // namespace msdump
