// LineQuery: a place in a script as people copy it from a trace, an IR or a log.
//
//   alexnet.py:175   alexnet.py:175-180   alexnet.py(175)   alexnet.py:175, 12~25   src/alexnet.py:15~20, 4~16
//   # In file /home/user/alexnet.py:175, 12~25/   x = self.conv3(x)/
//   File "/home/user/alexnet.py", line 175, in construct
//   alexnet.py        every line of it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/lines/operator_lines.h"
#include "graph/op_graph.h"
#include "ir/text/text_blocks.h"

namespace msdump {

struct LineQuery {
  std::string file;              // a path, or the end of one: "src/alexnet.py"
  uint32_t first = 0, last = 0;  // 0: every line
};

// kUsage for any other text.
Result<LineQuery> parse_line_query(std::string_view text);

// Whole components from the right: "alexnet.py" and "src/alexnet.py" fit "/home/user/src/alexnet.py", "net.py" does
// not. "." and ".." are resolved first: "/home/user/src/alexnet.py" fits "/home/user/run/../src/alexnet.py".
[[nodiscard]] bool path_ends_with(std::string_view path, std::string_view end);

// The text of a line in the form in which lines are compared: blanks as one, none around it. The '/' that IR writes for
// a line feed is a blank.
[[nodiscard]] std::string collapsed_code(std::string_view text);

// Finds the operators that were made from a line of a script or a piece of code. Each has a relation to it and a
// confidence.

// Best first.
enum class Relation : uint8_t {
  kDirect,    // the innermost statement in the user's code
  kVia,       // an outer frame: the call that led there
  kRange,     // a statement of several lines, of which this is one
  kGradient,  // the line belongs to the forward operator
  kFused,     // the line belongs to one of the operators that were fused or expanded
};
[[nodiscard]] std::string_view name_of(Relation relation);

struct LineHit {
  OpId op;
  Relation relation = Relation::kDirect;
  const SourceFrame* frame = nullptr;  // that matched
  // True if it is unknown which of several calls made this operator, for one of these reasons:
  //   * other operators of the type have the same stack (gradients always do, and do not count)
  //   * only the IR's protobuf names this line
  //   * the line is another call's of the same method (is_of_other_call)
  bool one_of_several = false;
  double confidence = 1;  // that the line made this operator
};

// The order of hits: by relation, then by confidence.
[[nodiscard]] bool is_better(const LineHit& a, const LineHit& b);

// Operators with a frame that fits, best first, then in the order of the graph. Each operator once.
[[nodiscard]] std::vector<LineHit> find_line(const OpGraph& graph, const LineQuery& query);
// The same for the text of a line; blanks count as one.
[[nodiscard]] std::vector<LineHit> find_code(const OpGraph& graph, std::string_view code);
// Operators of a whole graph that OperatorLines says are from the line, although their best frame is another.
[[nodiscard]] std::vector<LineHit> find_likely_line(const OpGraph& graph, const OperatorLines& lines,
                                                    const LineQuery& query);

// A text that every operator found by find_line() contains, so that a reader of IR text can skip most others.
[[nodiscard]] IrNeedle needle_of(const LineQuery& query);

// The lines of that file that have operators, at most `most`, nearest first; none if there is no such file. For
// messages about a line that matched nothing.
[[nodiscard]] std::vector<const SourceFrame*> nearest_lines(const OpGraph& graph, const LineQuery& query, size_t most);
// All files with operators, the user's first.
[[nodiscard]] std::vector<std::string> script_files(const OpGraph& graph);

}  // namespace msdump
