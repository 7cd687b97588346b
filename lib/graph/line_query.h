// LineQuery: a place in a script as people copy it from a trace, an IR or a log, and how an operator's source lines
// relate to it.
//
//   alexnet.py:175   alexnet.py:175-180   alexnet.py(175)   alexnet.py:175, 12~25   src/alexnet.py:15~20, 4~16
//   # In file /home/user/alexnet.py:175, 12~25/   x = self.conv3(x)/
//   File "/home/user/alexnet.py", line 175, in construct
//   alexnet.py        every line of it
// Source of the frames' meaning: reference/ir.md 1.7 and 2.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/op_graph.h"
#include "ir/text_blocks.h"

namespace msdump {

struct LineQuery {
  std::string file;              // a path, or the end of one: "src/alexnet.py"
  uint32_t first = 0, last = 0;  // 0: every line
};

// kUsage for text that is no such place.
Result<LineQuery> parse_line_query(std::string_view text);

// What an operator's text holds if find_line() finds it: lets a reader of IR text leave out all others. It may let
// others in.
[[nodiscard]] IrNeedle needle_of(const LineQuery& query);

// Whole components from the right: "alexnet.py" and "src/alexnet.py" fit "/home/user/src/alexnet.py", "net.py" does
// not. "." and ".." are resolved first: "/home/user/src/alexnet.py" fits "/home/user/run/../src/alexnet.py".
[[nodiscard]] bool path_ends_with(std::string_view path, std::string_view end);

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
  OpId op = 0;
  Relation relation = Relation::kDirect;
  const SourceFrame* frame = nullptr;  // that matched
  // Several operators of the type have this very stack, or only the IR's protobuf names this line: which call it was
  // nobody can tell.
  bool one_of_several = false;
  double confidence = 1;  // that the line made this operator
};

// The order of hits: by relation, then by confidence.
[[nodiscard]] bool is_better(const LineHit& a, const LineHit& b);

// Operators with a frame that fits, the better first, then in the order of the graph. Each operator once.
[[nodiscard]] std::vector<LineHit> find_line(const OpGraph& graph, const LineQuery& query);
// The same for the text of a line; blanks count as one.
[[nodiscard]] std::vector<LineHit> find_code(const OpGraph& graph, std::string_view code);

// Where nothing matched: the nearest lines of that file that have operators, at most `most`, the nearest first; without
// such a file none.
[[nodiscard]] std::vector<const SourceFrame*> nearest_lines(const OpGraph& graph, const LineQuery& query, size_t most);
// All files with operators, the user's first.
[[nodiscard]] std::vector<std::string> script_files(const OpGraph& graph);

}  // namespace msdump
