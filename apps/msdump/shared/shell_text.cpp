#include "shared/shell_text.h"

#include "base/text.h"

namespace msdump::cli {

std::string shell_quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string_view::npos) return std::string(path);
  const auto replaced = [&](std::string_view quote, std::string_view backslash) {
    std::string text;
    for (const char c : path) text += c == '\'' ? quote : c == '\\' ? backslash : std::string_view(&c, 1);
    return text;
  };
  // Writes control characters as $'...' does.
  if (escape_for_terminal(path) != path) return "$'" + escape_for_terminal(replaced("\\'", "\\\\")) + "'";
  return "'" + replaced("'\\''", "\\") + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace msdump::cli
