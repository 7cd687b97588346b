// The scale of a tensor's elements, for tolerances: the root mean square of a sample, in which a few large elements do
// not set the scale for all.
//
//   1. the sample is 16 pieces of 1024 elements, evenly spread; for a tensor that can only be read in order, its beginning
//   2. zeros, NaN and infinities say nothing about the scale and are left out. A sample that keeps fewer than 1024
//      elements comes from a sparse tensor (the gradient of an embedding, padding): then all elements are read, until
//      4 million are kept
//   3. where the magnitudes fall into two populations, a hundred times apart with nothing between, at least a twentieth
//      of the sample below and those above within a factor of 4, the lower one counts: a mask of -1e4 beside scores of 1
// If no element is kept the scale is 0. Complex numbers count by their parts, times the root of 2.
// Source: corpus/diagnosis/README.md 10.
#pragma once

#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/cancel.h"

namespace msdump {

Result<double> typical_scale(HostTensor& tensor, const CancelToken& cancel);

// The scale of a sample by rule 3; the order of its elements does not matter.
[[nodiscard]] double scale_of_sample(const std::vector<double>& sample);

}  // namespace msdump
