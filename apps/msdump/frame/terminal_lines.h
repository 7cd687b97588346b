// Lines of another tool's format (statistic.csv, result files) on a terminal, which the names in them must not drive. In a
// file or a pipe they are the bytes themselves.
#pragma once

#include <string>
#include <string_view>

namespace msdump::cli {

// Escaped, but for the ends of lines; "\r\n" becomes "\n".
[[nodiscard]] std::string lines_for_terminal(std::string_view lines);

}  // namespace msdump::cli
