// The scale of a tensor's elements, for tolerances: the root of the mean square of a sample of them, in which a few large
// ones do not speak for all.
//
//   1. the sample is 16 pieces of 1024 elements, evenly spread; of a tensor that can be read in order only, its beginning
//   2. zeros, NaN and infinities say nothing of the scale and are left out
//   3. where the magnitudes fall into two populations, a hundred times apart with nothing between, a twentieth of the
//      sample below and those above within a factor of 4, the lower one counts: a mask of -1e4 beside scores of 1
// Without any element that counts the scale is 0. Complex numbers are taken by their parts, times the root of 2.
// Source: corpus/diagnosis/README.md 10.
#pragma once

#include <vector>

#include "base/error.h"
#include "dump/index/host_tensor.h"

namespace msdump {

Result<double> typical_scale(HostTensor& tensor);

// Rules 2 and 3 for a sample; the order of its elements does not count.
[[nodiscard]] double scale_of_sample(const std::vector<double>& sample);

}  // namespace msdump
