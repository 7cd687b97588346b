#include "graph/flow/flow_edges.h"

namespace msdump {

std::vector<FlowEdge> flow_edges(const RunGraph& graph) {
  std::vector<FlowEdge> edges;
  for (uint32_t run = 0; run < graph.runs().size(); ++run) {
    for (const RunInput& input : graph.runs()[run].inputs) {
      const uint32_t tensor = input.tensor != kNoTensor ? input.tensor : input.made_as;
      for (const uint32_t from : {input.made_by, input.updated_by}) {
        if (from != kNoRun) edges.push_back({from, run, tensor, false});
      }
      for (const uint32_t before : graph.before_gap(input)) edges.push_back({before, run, tensor, true});
    }
  }
  return edges;
}

}  // namespace msdump
