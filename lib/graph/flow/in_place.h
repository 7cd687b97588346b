// Which inputs an operator writes into: after it has run, its dump shows the result there, not what went in.
//
//   1. the IR marks them (`is_inplace`, MindSpore 2.10 and later), but not for every operator: SGD's have no mark
//   2. a short table of operators known to do so
// The bytes prove it for others: an input that is not what its producer wrote, or what others read of a parameter
// (graph/flow/run_graph.h).
// Source: corpus/diagnosis/README.md 2; MindSpore's documentation of these operators.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/op_graph.h"

namespace msdump {

[[nodiscard]] bool updates_input(const OpGraph& graph, OpId op, uint32_t slot);

// The table.
[[nodiscard]] bool is_known_to_update(std::string_view op_type, uint32_t slot);
// Is any input of this type in it?
[[nodiscard]] bool is_known_to_update(std::string_view op_type);

// An input that kernels of a type are given and do not use: the reserve of BatchNormGrad, which is whatever memory the
// BatchNorm left unwritten.
[[nodiscard]] bool ignores_input(std::string_view op_type, uint32_t slot);

}  // namespace msdump
