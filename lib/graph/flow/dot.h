// A graph as Graphviz reads it: operators as boxes, values as arrows; virtual nodes are passed through.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// Finds operators by full name, leaf, or either as file names spell it, or by a glob of these.
[[nodiscard]] std::vector<OpId> operators_named(const OpGraph& graph, std::string_view name);

// The operators at most `depth` arrows away from `centre`, in either direction; all with a kernel if `centre` is empty.
// Escapes the text of labels.
[[nodiscard]] std::string dot_text(const OpGraph& graph, const std::vector<OpId>& centre, uint32_t depth,
                                   const std::function<std::string(OpId)>& label);

}  // namespace msdump
