// open(2), retried after a signal; always O_CLOEXEC, and mode 0666 less umask for a new file. Internal to lib/io.
#pragma once

#include <string>

namespace msdump {

// The descriptor, or -1 with errno.
[[nodiscard]] int open_file(const std::string& path, int flags);

}  // namespace msdump
