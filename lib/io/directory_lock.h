// DirectoryLock: one process at a time changes a file of a directory that is read and then replaced.
#pragma once

#include <string>

#include "io/file.h"

namespace msdump {

// Waits until nobody else holds the lock of `directory`. Advisory; does nothing where the file system has no locks.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory);

 private:
  Descriptor descriptor_;  // the lock ends when it is closed
};

}  // namespace msdump
