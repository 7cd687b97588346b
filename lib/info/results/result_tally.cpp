#include "info/results/result_tally.h"

#include "base/text.h"

namespace msdump {

std::string one_line(std::string_view text) {
  constexpr size_t kLongestMessage = 400;
  size_t end = std::min(text.size(), kLongestMessage);
  while (end > 0 && end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not in a character
  std::string line;
  for (const std::string_view part : split(text.substr(0, end), '\n')) {
    if (trimmed(part).empty()) continue;
    line.append(line.empty() ? "" : "; ").append(trimmed(part));
  }
  return line;
}

}  // namespace msdump
