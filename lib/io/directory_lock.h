// DirectoryLock: one process at a time changes a file of a directory that is read and then replaced.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "io/cancel.h"
#include "io/file.h"

namespace msdump {

class DirectoryLock {
 public:
  // Waits until nobody else holds the lock of `directory`, or `cancel` is set (kCancelled). Advisory; holds nothing
  // where the file system has no locks.
  static Result<DirectoryLock> acquire(const std::string& directory, const CancelToken& cancel);

 private:
  explicit DirectoryLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;  // the lock ends when it is closed
};

}  // namespace msdump
