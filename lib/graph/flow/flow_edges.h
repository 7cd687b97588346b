// The edges of a RunGraph one by one, for what shows the data flow.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/flow/run_graph.h"

namespace msdump {

struct FlowEdge {
  uint32_t from = kNoRun, to = kNoRun;  // in RunGraph::runs
  uint32_t tensor = kNoTensor;  // what was passed: the input of `to`, else the output of `from`; may be kNoTensor
  bool gap = false;             // operators between the two were not dumped
};

// By `to`, in the order of its inputs.
[[nodiscard]] std::vector<FlowEdge> flow_edges(const RunGraph& graph);

}  // namespace msdump
