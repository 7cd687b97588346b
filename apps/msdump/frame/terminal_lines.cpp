#include "frame/terminal_lines.h"

#include "base/text.h"

namespace msdump::cli {

std::string lines_for_terminal(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text += escape_for_terminal(line);
    if (end == std::string_view::npos) break;
    text += '\n';
    lines.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace msdump::cli
