// A source line of an operator, as IR text and the source_address of IR protobuf write it (without "# "):
//
//   [inlined:]In file PATH PLACE[/CODE/][<~~This line of code can be shared by multiple nodes, ..][#LABEL]
//   1. PLACE   "(175)"                           0.5 to 1.8
//              ":175"                            1.9 to 2.2
//              ":175, 12~25", ":175~180, 4~16"   2.3 and later: columns are left out when one is 0
//   2. CODE    the line of the script, or the first of several; a '/' in it may have been a line feed. It may hold
//              anything: the first text that looks like a PLACE is the PLACE.
// PATH may hold blanks, colons and parentheses.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "ir/model/ir_graph.h"

namespace msdump {

// The spelling of PLACE, which implies the order of the lines of a stack.
enum class PlaceStyle : uint8_t {
  kParentheses,  // innermost first
  kLine,         // innermost first in 1.9 and 1.10, outermost first from 2.0
  kRange,        // with columns or a last line: outermost first
};

struct ParsedFrame {
  SourceFrame frame;  // views of the text
  PlaceStyle style = PlaceStyle::kLine;
};

// "In file ..", "inlined:In file ..".
[[nodiscard]] bool is_source_frame(std::string_view text);

// No value if there is no place in the text.
[[nodiscard]] std::optional<ParsedFrame> parse_source_frame(std::string_view text);

// First and last line of the PLACE at the start of `text`, which follows the path of a frame. For IrNeedle::accept.
[[nodiscard]] std::optional<std::pair<uint32_t, uint32_t>> parse_place(std::string_view text);

// True if the text of a frame ends as the writer ends one. A text that was cut or wrapped does not.
[[nodiscard]] bool is_whole_frame(std::string_view text);

}  // namespace msdump
