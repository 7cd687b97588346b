#include "base/version.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {

std::optional<Version> parse_version(std::string_view text) {
  std::array<int, 3> numbers{};
  size_t at = 0, count = 0;
  while (count < numbers.size()) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    const auto number = parse_u64(text.substr(begin, at - begin));
    if (!number || *number > 10000) break;
    numbers[count++] = static_cast<int>(*number);
    if (at >= text.size() || text[at] != '.') break;
    ++at;
  }
  if (count == 0) return std::nullopt;
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string to_string(const Version& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace msdump
