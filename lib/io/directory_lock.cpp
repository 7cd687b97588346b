#include "io/directory_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

namespace msdump {

DirectoryLock::DirectoryLock(const std::string& directory)
    : descriptor_(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!descriptor_.valid()) return;
  while (::flock(descriptor_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

}  // namespace msdump
