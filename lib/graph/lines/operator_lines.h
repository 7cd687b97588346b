// The line of the script to show for an operator, where its own frames do not name it or name another call's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "graph/lines/script_region.h"
#include "graph/lines/source_lines.h"
#include "graph/op_graph.h"

namespace msdump {

struct OperatorLine {
  const SourceFrame* frame = nullptr;
  // True if several operators of the type have the same stack, so that the call is unknown. `frame` then is the likeliest.
  bool one_of_several = false;
};

// MindSpore makes a function once for all calls of it, so that each of its operators has the frames of the first call:
// of `+`, .sum(), ops.gather() anywhere in the script. In this order:
//
//   1. gradients   have the frames of the right call, and name their operator: their forward_unique_id is its unique_id.
//                  They have to agree on one line, in the function of the own frame, or in any function if no other
//                  operator has that unique_id and others have the stack
//   2. own         best_frame(), if it is in the user's code, and no other operator of the type has its stack
//   3. operands    the only line whose code has the operator with the number (x * 0.5) or parameter (x * self.scale) that
//                  it reads
//   4. between     operators with a known line bound where the call can be: those that the operator reads, and those that
//                  read it. Of the lines between them the own one; else one whose code calls the operator; else the
//                  only one whose code no frame quotes
//   5. around      the line of the nearest operator, before or after, with a stack of its own
//   6. neighbours  if the frame is a library's, or there is none: the line of the operator that reads the result, else of
//                  the producer of the first input (for a Cast the producer first), at most four operators away
// Otherwise the library's frame, or none. Source: IR of MindSpore 2.5 to 2.10.
class OperatorLines {
 public:
  OperatorLines() = default;
  explicit OperatorLines(const OpGraph& graph);  // which must outlive this
  // Thread-safe.
  [[nodiscard]] OperatorLine of(OpId op) const;

 private:
  struct Forward {
    uint32_t operators = 0;       // with this unique_id
    std::vector<OpId> gradients;  // with this forward_unique_id
  };
  struct Nodes {                                             // of one origin
    std::unordered_map<std::string_view, Forward> forwards;  // by unique_id; only those with gradients
    EqualStacks calls;
    EdgeLists<uint32_t> readers;  // by node
    QuotedScript script;
  };
  struct OfOrigin {  // read when an operator of it is asked for first
    std::once_flag once;
    Nodes nodes;
  };
  struct Made {
    std::mutex mutex;
    std::map<ScriptLine, SourceFrame> frames;                // of lines that no frame may have
    std::map<std::pair<uint32_t, List>, ScriptCalls> calls;  // by origin and stack
  };

  [[nodiscard]] const Nodes& nodes_of(OpId op) const;
  void read(const Origin& origin, Nodes& nodes) const;
  [[nodiscard]] const Forward* forward_of(OpId op) const;
  [[nodiscard]] const SourceFrame* by_gradients(OpId op, const SourceFrame* own) const;
  [[nodiscard]] const ScriptCalls& known_calls(OpId op) const;
  [[nodiscard]] const ScriptCalls& calls_to(OpId op) const;
  // The operators nearest to another, before or after it, whose lines are known.
  struct Near {
    int distance = 0;                       // of all of them, in operators
    std::vector<const ScriptCalls*> calls;  // an empty one if nothing is near
  };
  [[nodiscard]] Near nearest_calls(OpId op, bool after) const;
  [[nodiscard]] const SourceFrame* between(OpId op, const SourceFrame& own) const;
  // The line of the region that the operator is likeliest from. If several call it, the first one, or with `last` the last.
  // Null if none calls it and several lines are not quoted.
  [[nodiscard]] const SourceFrame* chosen_line(OpId op, const SourceFrame& own, std::span<const LineRange> region,
                                               const CallSpelling& spelling, bool last) const;
  [[nodiscard]] const SourceFrame* by_operands(OpId op, const CallSpelling& spelling) const;
  [[nodiscard]] const SourceFrame* by_neighbours(OpId op, bool producer) const;
  [[nodiscard]] const SourceFrame* frame_of(const Nodes& nodes, const ScriptLine& at) const;

  const OpGraph* graph_ = nullptr;
  mutable std::deque<OfOrigin> origins_;
  std::unique_ptr<Made> made_;
};

}  // namespace msdump
