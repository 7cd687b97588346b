// Reading standard input, a FIFO or a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/run_context.h"

namespace msdump::cli {

// All text up to the end of the stream; kTooLarge beyond `most` bytes. Polls, so that an interruption also ends a wait
// for text that never comes.
[[nodiscard]] Result<std::string> read_stream(int descriptor, const std::string& path, size_t most,
                                              const CancelToken& cancel);

// A list of paths on standard input: one per line, or NUL-separated if there is any NUL.

// A dump of a million files takes some 200 MB.
inline constexpr size_t kMostListBytes = size_t{256} << 20, kMostListEntries = 4'000'000;

// Empty entries are left out; kUsage for more than kMostListEntries.
[[nodiscard]] Result<std::vector<std::string>> paths_of_list(std::string_view text);

// The error for a path that does not exist, with the nearest name as a hint.
[[nodiscard]] Error missing_path(const std::string& path);

// Reads the list to its end; an interruption ends the wait for it.
[[nodiscard]] Result<std::vector<std::string>> read_path_list(const CancelToken& cancel);

}  // namespace msdump::cli
