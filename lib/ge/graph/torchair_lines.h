// read_torchair: dynamo_{original|optimized}_graph_*.py, the Python in which torchair writes the graph that it gives to GE,
// for the lines of the script:
//
//   # File "/home/user/net.py", line 23, in forward
//   # y = x * w
//   Mul_0 = ge.Mul(arg0, arg1, node_name="Mul")
//
// The comments right above an operator with a node_name are its stack. They are places, the outermost first as in a
// traceback, each with its code in the comment after it. Operands and types are only in the graph that GE itself writes.
// Source: files that torchair of 2024 to 2026 wrote.
#pragma once

#include <string_view>

#include "base/error.h"
#include "ir/model/ir_graph.h"

namespace msdump {

inline constexpr uint64_t kMostTorchair = uint64_t{256} << 20;

// Decides by the first bytes.
[[nodiscard]] bool is_torchair(std::string_view head);

// bad_ir if no operator has a node_name.
Result<IrGraph> read_torchair(std::string_view text);

}  // namespace msdump
