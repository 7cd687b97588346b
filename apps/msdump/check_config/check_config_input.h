// The text of a configuration: a file, or a stream (/dev/stdin, a FIFO, the <(...) of a shell).
#pragma once

#include <string>

#include "base/error.h"
#include "io/cancel.h"

namespace msdump::cli {

// At most kMostConfigBytes. Waits for who writes into a pipe until he closes it or `cancel` says so.
[[nodiscard]] Result<std::string> read_config(const std::string& path, const CancelToken& cancel);

}  // namespace msdump::cli
