// The lines of code that an operator came from: frames of the user's script and of the framework's library.
//
// Outer frames are less reliable than the innermost: cells and functions that are used more than once may carry the
// frames of one of their calls. Source: reference/ir.md 1.7, reference/verified-on-real-mindspore.md 1.6.
#pragma once

#include <string_view>
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

}  // namespace msdump
