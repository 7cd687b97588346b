// placement_in(): the placement that a writer states with the local tensors (TensorRecord::distribution): DTensors of PyTorch,
// the layouts of MindSpore that msprobe writes (msprobe/dump_json.h), and the dims of SGLang's dumper (dims.h). What is stated
// is not searched for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compare/match/placement/placement.h"
#include "dump/index/tensor_list.h"

namespace msdump {

// `distribution` as JSON; `ranks` are those of the local tensors, ascending. Nothing if it is of other ranks, or not
// understood.
[[nodiscard]] std::optional<Placement> placement_in(std::string_view distribution, std::span<const int64_t> ranks);

// The same, if all local tensors state it; dims, with the coordinates of each rank. A null is that of a rank that lacks the
// tensor.
[[nodiscard]] std::optional<Placement> placement_in(std::span<const TensorRecord* const> locals,
                                                    std::span<const int64_t> ranks);

}  // namespace msdump
