// The lines of code that an operator came from: frames of the user's script and of the framework's library.
//
// Outer frames are less reliable than the innermost: cells and functions that are used more than once may carry the
// frames of one of their calls. Source: reference/ir.md 1.7, reference/verified-on-real-mindspore.md 1.6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// Is a file part of the framework or of an installed package, not of the user's code?
[[nodiscard]] bool is_library_file(std::string_view path);

// "def construct(self, x):": the header of a function that the call is in, not a statement.
[[nodiscard]] bool is_def_frame(const SourceFrame& frame);

// Is the frame at `at` that of another call of the same method? For a method that several calls share MindSpore 2.0 also
// writes the line of another of these calls, after the method's own lines or between two of them:
//   net.py:178 x = self.relu(x)  >  activation.py:406 return self.relu(x)  >  net.py:176 x = self.relu(x)
// `stack`: of an IR, each chain innermost first. No frame of a def: 2.3 and later write one for each call, and none of these.
[[nodiscard]] bool is_of_other_call(std::span<const SourceFrame* const> stack, size_t at);

// The one frame to show: the innermost in the user's code that is not of another call, else the innermost. An operator
// without a stack of its own has that of its forward or fused operator.
[[nodiscard]] const SourceFrame* best_frame(const OpGraph& graph, OpId op);

// All frames of the own stack, innermost first; of an operator without one those of the others.
[[nodiscard]] std::vector<const SourceFrame*> stack_of(const OpGraph& graph, OpId op);

// The line of the script to show for an operator, where its own stack does not name it or names another call's:
//
//   1. gradients   MindSpore 2.5 and later give an operator that is made in several calls (+, -, >, .transpose) the line of
//                  the first. Its gradients name it (forward_unique_id is its unique_id) and have the frames of the right call:
//                  if they agree on one line of the same function, that is it
//   2. own         best_frame(), in the user's code
//   3. neighbours  for a library's frame or none: of the operator that reads the result, else of the one that made the first
//                  input; of a Cast that one first. At most four operators away
// Else the library's frame, or none.

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

// The operator that a misspelt name probably meant.

enum class OperatorText : uint8_t { kName, kType };

// The nearest op type, or last part of a name, of an operator with a kernel. Empty when nothing is near, `typed` is a
// glob, or an operator has exactly this.
[[nodiscard]] std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text);

}  // namespace msdump
