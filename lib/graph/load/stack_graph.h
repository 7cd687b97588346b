// The operators of msprobe's stack.json as a graph: without edges and types, with their source lines. A backward call
// has no stack of its own; it gets that of its forward call, as a gradient.
#pragma once

#include <set>
#include <string_view>

#include "base/error.h"
#include "ir/model/ir_graph.h"
#include "msprobe/stack_json.h"

namespace msdump {

Result<IrGraph> graph_of_stacks(const StackJson& stacks, const std::set<std::string_view>& dumped_ops);

}  // namespace msdump
