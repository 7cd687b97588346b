// Tensors that changed places: pairs that differ although the candidate's tensor of one is the reference's tensor of the
// other, both ways. Weights of two layers that were loaded crosswise look like two wrong weights; they stay paired by
// name.
//
// Maximum, minimum, mean and deviation must be equal to the last bit. Tensors that share theirs with a third one, or have
// one value alone, prove nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"

namespace msdump {

// Two of Pairing::tensors each, in their order. `diffs` by Pairing::tensors.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> exchanged_tensors(const Pairing& pairing,
                                                                           const std::vector<TensorDiff>& diffs);

}  // namespace msdump
