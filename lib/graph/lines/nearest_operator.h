// The operator that a misspelt name probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/op_graph.h"

namespace msdump {

enum class OperatorText : uint8_t { kName, kType };

// The nearest op type, or last part of a name, of an operator with a kernel. Empty when nothing is near, `typed` is a
// glob, or an operator has exactly this.
[[nodiscard]] std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text);

}  // namespace msdump
