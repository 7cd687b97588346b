// The text of a configuration: a file, or a stream (/dev/stdin, a FIFO, the <(...) of a shell).
#pragma once

#include <string>

#include "base/error.h"
#include "io/run_context.h"

namespace msdump::cli {

// At most kMostConfigBytes. Waits until the writer of a pipe closes it, or `cancel` is set.
[[nodiscard]] Result<std::string> read_config(const std::string& path, const CancelToken& cancel);

}  // namespace msdump::cli
