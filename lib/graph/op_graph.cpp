#include "graph/op_graph.h"

#include <algorithm>
#include <tuple>

#include "base/order.h"
#include "graph/flow/data_flow.h"

namespace msdump {

OpGraph::OpGraph(std::vector<Origin> origins) : origins_(std::move(origins)) {
  const auto key = [](const Origin& origin) {
    return std::tuple(known_first(origin.rank), known_first(origin.graph_id), known_first(origin.number),
                      known_first(origin.step), std::string_view(origin.path));
  };
  std::sort(origins_.begin(), origins_.end(), [&](const Origin& a, const Origin& b) { return key(a) < key(b); });
  for (Origin& origin : origins_) {
    origin.wide_tuples = wide_tuples(origin.graph);
    origin.first_operator = static_cast<uint32_t>(size_);
    size_ += origin.graph.nodes.size();
  }
}

uint32_t OpGraph::origin_index(OpId op) const {
  const auto next = std::upper_bound(origins_.begin(), origins_.end(), op,
                                     [](OpId id, const Origin& origin) { return id < origin.first_operator; });
  return static_cast<uint32_t>(next - origins_.begin()) - 1;
}

const IrNode& OpGraph::node(OpId op) const {
  const Origin& from = origin(op);
  return from.graph.nodes[op - from.first_operator];
}

}  // namespace msdump
