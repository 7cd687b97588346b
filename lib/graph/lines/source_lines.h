// The lines of code that an operator came from: frames of the user's script and of the framework's library.
//
// Outer frames are less reliable than the innermost: cells and functions that are used several times may carry the
// frames of one of their calls. Source: IR of MindSpore 0.5 to 2.10.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// True for a file of the framework or of an installed package, false for user code.
[[nodiscard]] bool is_library_file(std::string_view path);

// "def construct(self, x):": the header of a function that the call is in, not a statement.
[[nodiscard]] bool is_def_frame(const SourceFrame& frame);

// True if the frame at `at` belongs to another call of the same method. If several calls share a method, MindSpore 2.0
// also writes the line of another call, after the method's own lines or between two of them:
//   net.py:178 x = self.relu(x)  >  activation.py:406 return self.relu(x)  >  net.py:176 x = self.relu(x)
// `stack` is an IR's, each chain innermost first. Frames of a def are never such lines: 2.3 and later write one for
// each call.
[[nodiscard]] bool is_of_other_call(std::span<const SourceFrame* const> stack, size_t at);

// The frame to show: the innermost in the user's code that is not of another call, else the innermost. An operator
// without a stack of its own gets that of its forward or fused operator.
[[nodiscard]] const SourceFrame* best_frame(const OpGraph& graph, OpId op);

// All frames of an operator's own stack, innermost first. If it has none, the frames of its forward or fused operators.
[[nodiscard]] std::vector<const SourceFrame*> stack_of(const OpGraph& graph, OpId op);

// Counts the operators of one type that have the same stack, so that it is unknown which of several calls made each.
class EqualStacks {
 public:
  EqualStacks() = default;
  explicit EqualStacks(const IrGraph& ir);
  [[nodiscard]] bool repeated(const IrNode& node) const;

 private:
  static uint64_t key(const IrNode& node) {
    return static_cast<uint64_t>(node.stack) << 32 | static_cast<uint64_t>(static_cast<uint32_t>(node.op));
  }

  std::unordered_map<uint64_t, uint32_t> counts_;  // by stack and type
};

// The line of the script to show for an operator, if its own stack does not name it or names another call's:
//
//   1. gradients   MindSpore 2.5 and later give an operator that is made in several calls (+, -, >, .transpose) the line
//                  of the first call. Its gradients name it (their forward_unique_id is its unique_id) and have the
//                  frames of the right call. If they agree on one line of the same function, it is taken
//   2. own         best_frame(), if it is in the user's code
//      around      if other operators of the type have the same stack, and an operator before or after it has a stack of its
//                  own in another function: the line of that one. A function of the framework that is called everywhere
//                  gets the frames of its first call
//   3. neighbours  if the frame is a library's, or there is none: the line of the operator that reads the result, else of
//                  the producer of the first input (for a Cast the producer first), at most four operators away
// Otherwise the library's frame, or none.

struct OperatorLine {
  const SourceFrame* frame = nullptr;
  // True if several operators of the type have the same stack, so that the call is unknown.
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
    EqualStacks calls;
    std::vector<uint32_t> readers;  // by node: the first node that reads it
  };
  [[nodiscard]] const SourceFrame* by_gradients(OpId op, const SourceFrame* own) const;
  [[nodiscard]] const SourceFrame* around(OpId op, const SourceFrame* own) const;
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
