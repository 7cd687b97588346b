// GapAncestors finds, for an operator that was not dumped, the nearest dumped operators that its value depends on.
//
// Cost: linear in the operators and edges of the gaps, in any shape of graph, and at most kMostAncestors times that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// If there are more, the last ones in the graph are kept.
inline constexpr size_t kMostAncestors = 32;

class GapAncestors {
 public:
  // `dumped`: by operator. The graph must outlive it.
  GapAncestors(const OpGraph& graph, std::vector<bool> dumped);

  // Dumped operators that an operator depends on with no other dumped one between, ascending; the operator itself if it
  // was dumped. Edges that lead back in loops are not followed. Valid until the next call.
  [[nodiscard]] std::span<const OpId> of(OpId op);

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Visit {
    OpId op;
    std::vector<OpId> producers;
    size_t next = 0;  // in `producers`
  };
  [[nodiscard]] Visit begin(OpId op);
  void finish(const Visit& visit);
  [[nodiscard]] std::span<const OpId> found(OpId op) const;

  const OpGraph& graph_;
  const std::vector<bool> dumped_;
  std::vector<State> states_;                          // by operator
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // by operator: in `all_`; operators of a chain share one
  std::vector<OpId> all_;
};

}  // namespace msdump
