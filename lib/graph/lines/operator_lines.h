// The line of the script to show for an operator, where its own stack does not name it or names another call's:
//
//   1. gradients   MindSpore 2.5 and later give an operator that is made in several calls (+, -, >, .transpose) the line of
//                  the first. Its gradients name it (forward_unique_id is its unique_id) and have the frames of the right call:
//                  if they agree on one line of the same function, that is it
//   2. own         best_frame(), in the user's code
//   3. neighbours  for a library's frame or none: of the operator that reads the result, else of the one that made the first
//                  input; of a Cast that one first. At most four operators away
// Else the library's frame, or none.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

struct OperatorLine {
  const SourceFrame* frame = nullptr;
  // Several operators of the type have this very stack, and nothing tells which of the calls this one is.
  bool one_of_several = false;
};

class OperatorLines {
 public:
  OperatorLines() = default;
  explicit OperatorLines(const OpGraph& graph);  // which must outlive this
  // Thread-safe.
  [[nodiscard]] OperatorLine of(OpId op) const;

 private:
  struct Nodes {                                                        // of one origin
    std::unordered_map<std::string_view, std::vector<OpId>> gradients;  // by the forward operator's unique_id
    std::unordered_map<uint64_t, uint32_t> calls;                       // by type and stack: how many have them
    std::vector<uint32_t> readers;                                      // by node: the first node that reads it
  };
  [[nodiscard]] const SourceFrame* by_gradients(OpId op, const SourceFrame* own) const;
  [[nodiscard]] const SourceFrame* by_neighbours(OpId op, bool producer) const;

  const OpGraph* graph_ = nullptr;
  std::vector<Nodes> origins_;
};

}  // namespace msdump
