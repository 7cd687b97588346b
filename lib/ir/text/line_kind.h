// The kind of a line of IR text, by its first characters alone. Indentation is not trusted: copies of IR lose it.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/model/scan.h"

namespace msdump {

enum class LineKind : uint8_t {
  kBlank,
  kEllipsis,   // "...": something was left out by whoever made the copy
  kNode,       // "%4(x) = Conv2D(..", "%4 = Assign(.."
  kReturn,     // "Return(..", "return(..", "Primitive::Return{prim_type=1}(.."
  kParameter,  // "%para1_x : <..>"; without a type it is the rest of a wrapped line
  kColon,      // ": (..": types, or a full name up to 1.6
  kHash,       // "# ..": name, scope, source line, banner
  kStrategy,   // "{in_strategy: ..}     : (..": before the types, up to 1.6
  kGraph,      // "subgraph @g(..) {"
  kGraphNote,  // "subgraph attr:", "subgraph instance: .."
  kClose,      // "}"
  kText,  // anything else: the rest of a line that was wrapped, a value on a line of its own (1.3), the file's head
};

[[nodiscard]] LineKind line_kind(std::string_view line);

// A line number that a documentation page put before the line, "  12 " or "124:"; 0 if there is none.
[[nodiscard]] size_t gutter_length(std::string_view line);

}  // namespace msdump
