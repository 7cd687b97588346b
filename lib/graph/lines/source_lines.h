// The lines of code that an operator came from: frames of the user's script and of the framework's library.
//
// Outer frames are less reliable than the innermost: cells and functions that are used several times may carry the
// frames of one of their calls. Source: IR of MindSpore 0.5 to 2.10.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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

// The operator that a misspelt name probably meant.

enum class OperatorText : uint8_t { kName, kType };

// The nearest op type, or last part of a name, of an operator with a kernel. Empty when nothing is near, `typed` is a
// glob, or an operator has exactly this.
[[nodiscard]] std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text);

}  // namespace msdump
