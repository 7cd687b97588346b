// Where in a script an operator can come from, if its own line is that of another call: after the calls that made what it
// reads, and before the calls that read its result. The IR quotes the code of most lines of a script, so that among
// those lines the one that calls the operator can often be found without the script.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "ir/model/ir_graph.h"

namespace msdump {

struct ScriptLine {
  std::string_view file;
  uint32_t line = 0;

  auto operator<=>(const ScriptLine&) const = default;
};

// The code of the user's lines, as far as the frames of a graph quote it.
class QuotedScript {
 public:
  QuotedScript() = default;
  explicit QuotedScript(const IrGraph& ir);  // whose texts must outlive this
  // Empty if no frame quotes the line.
  [[nodiscard]] std::string_view code(const ScriptLine& at) const;
  // The lines with a literal of this value; none for a whole number, which may be an axis or a size.
  [[nodiscard]] std::vector<ScriptLine> lines_with(double fraction) const;
  // The lines with `self.NAME`.
  [[nodiscard]] std::vector<ScriptLine> lines_with_attribute(std::string_view name) const;

 private:
  std::map<ScriptLine, std::string_view> lines_;
  std::multimap<float, ScriptLine> fractions_;  // as float32, which the IR may have rounded them to
  std::multimap<std::string_view, ScriptLine> attributes_;
};

// A call on the way to an operator: the function, from its def to its end, and the line that it had reached.
struct ScriptCall {
  std::string_view file;
  uint32_t def = 0, end = 0, line = 0;

  [[nodiscard]] bool is_in_function_of(const ScriptCall& other) const { return file == other.file && def == other.def; }
};
// Outermost first.
using ScriptCalls = std::vector<ScriptCall>;

// The calls of user code in a chain of frames that has the innermost first. A function without a def frame is left out.
[[nodiscard]] ScriptCalls calls_of(std::span<const SourceFrame* const> chain);

struct LineRange {
  std::string_view file;
  uint32_t first = 0, last = 0;

  [[nodiscard]] bool has(std::string_view in_file, uint32_t line) const {
    return file == in_file && first <= line && line <= last;
  }
};

// In the order of execution. Empty if the two have no function in common or do not follow one another, and if nothing is
// known of both. One of them may be empty: what begins or ends the innermost function of the other.
[[nodiscard]] std::vector<LineRange> lines_between(const ScriptCalls& before, const ScriptCalls& after);
[[nodiscard]] uint64_t lines_in(std::span<const LineRange> region);

// How a script may spell an operator: "+", and the names of functions.
struct CallSpelling {
  std::string_view symbol;  // empty if Python has none
  std::vector<std::string_view> names;

  [[nodiscard]] bool occurs_in(std::string_view code) const;
};
// Python's symbol for an operator type of MindSpore: "+" for Add; empty if it has none.
[[nodiscard]] std::string_view python_symbol(std::string_view op_type);
// "sum" of "def sum(input, dim=None):"; empty for construct, which calls do not name, and for what is no def.
[[nodiscard]] std::string_view function_name(std::string_view def);

}  // namespace msdump
