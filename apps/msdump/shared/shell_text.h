// Words as a shell reads them back.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace msdump::cli {

[[nodiscard]] std::string shell_quoted(std::string_view word);
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

}  // namespace msdump::cli
