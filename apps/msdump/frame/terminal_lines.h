// Lines of another tool's format (statistic.csv, result files) on a terminal, which the names in them must not control.
// A file or a pipe gets the bytes unchanged.
#pragma once

#include <string>
#include <string_view>

namespace msdump::cli {

// Escaped, except for the ends of lines; "\r\n" becomes "\n".
[[nodiscard]] std::string lines_for_terminal(std::string_view lines);

}  // namespace msdump::cli
