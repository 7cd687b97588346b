// The version of a framework as numbers, so that 2.10 is later than 2.9.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace msdump {

// {2, 10, 0}. Missing parts are 0.
struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};
// "2.5", "2.5.0", "2.3.0rc2": the leading numbers; no value when the text does not begin with one.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

}  // namespace msdump
