// Which inputs an operator writes into: after it has run, its dump shows the result there, not what went in.
//
//   1. the IR marks them (`is_inplace`, MindSpore 2.10 and later), if it marks any input at all
//   2. else, of an operator that a parameter flows into: a short table of the operators known to do so. The last resort;
//      what the bytes prove counts more, and whoever has them asks them first (compare/diff_flow.h)
// Source: corpus/diagnosis/README.md 2; MindSpore's documentation of these operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

class InPlaceInputs {
 public:
  explicit InPlaceInputs(const OpGraph& graph);

  [[nodiscard]] bool updates(OpId op, uint32_t slot) const;

 private:
  const OpGraph& graph_;
  std::vector<bool> marked_;  // by origin: its IR marks such inputs
};

// The table.
[[nodiscard]] bool is_known_to_update(std::string_view op_type, uint32_t slot);

}  // namespace msdump
