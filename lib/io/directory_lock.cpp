#include "io/directory_lock.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

#include "io/open_file.h"

namespace msdump {

Result<DirectoryLock> DirectoryLock::acquire(const std::string& directory, const CancelToken& cancel) {
  DirectoryLock lock(Descriptor(open_file(directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY)));
  // A wait inside flock would miss a signal that came just before it.
  while (lock.descriptor_.valid() && ::flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) != 0 &&
         (errno == EWOULDBLOCK || errno == EINTR)) {
    MSDUMP_CHECK_OK(cancel.check());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

}  // namespace msdump
