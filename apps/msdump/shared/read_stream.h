// Reading standard input, a FIFO or a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "io/cancel.h"

namespace msdump::cli {

// All text up to the end of the stream; kTooLarge beyond `most` bytes. Polls, so that an interruption also ends a wait
// for text that never comes.
[[nodiscard]] Result<std::string> read_stream(int descriptor, const std::string& path, size_t most,
                                              const CancelToken& cancel);

}  // namespace msdump::cli
