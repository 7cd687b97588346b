// A list of paths on standard input: one per line, or NUL-separated if there is any NUL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/cancel.h"

namespace msdump::cli {

// A dump of a million files takes some 200 MB.
inline constexpr size_t kMostListBytes = size_t{256} << 20, kMostListEntries = 4'000'000;

// Empty entries are left out; kUsage for more than kMostListEntries.
[[nodiscard]] Result<std::vector<std::string>> paths_of_list(std::string_view text);

// Reads the list to its end; an interruption ends the wait for it.
[[nodiscard]] Result<std::vector<std::string>> read_path_list(const CancelToken& cancel);

}  // namespace msdump::cli
