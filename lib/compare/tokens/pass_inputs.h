// read_inputs(): the integer inputs of the forward passes that tell which row is which token: positions, lengths and others,
// by their meaning (input_meaning.h), and positions also by their values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/tokens/run_passes.h"
#include "io/run_context.h"

namespace msdump {

// A tensor of integers or booleans, row by row. kTooLarge for other tensors, and beyond kMostTokens.
Result<std::vector<int64_t>> read_whole_numbers(const CompareSide& side, const TensorRecord& record,
                                                const CancelToken& cancel);

// Adds to `passes.inputs`, which have the ids, what the tensors of `rank` say. If several have one meaning, the one that was
// dumped in most passes is read. An error if interrupted; a file that cannot be read counts as not dumped.
Status read_inputs(const CompareSide& side, std::optional<int64_t> rank, RunPasses& passes, const CancelToken& cancel);

}  // namespace msdump
