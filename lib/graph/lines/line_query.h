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

#include "base/error.h"

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

// The text of a line as lines are compared: blanks as one, none around it; the '/' that IR has for a line feed is a blank.
[[nodiscard]] std::string collapsed_code(std::string_view text);

}  // namespace msdump
